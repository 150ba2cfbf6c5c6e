"""What a robot is to the rest of the house: a MuJoCo model and the names that give it meaning.

A robot is one file in `embodiments/catalogue/`: it returns a `Robot`. Everything else (planning, control, recording,
export) speaks only of the fields below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import mujoco


@dataclass(frozen=True, kw_only=True)
class Fingertip:
    """The end of a finger that can be put anywhere near by its own joints."""

    site: str
    """Site in the middle of the fingertip."""
    joints: tuple[str, ...]
    """From the palm outwards."""
    radius: float
    """From the site to the fingertip's surface [m]."""


@dataclass(frozen=True, kw_only=True)
class Gripper:
    """What an arm holds with: two fingers, or two opposed groups of fingers. 0 is open and 1 is closed, everywhere."""

    actuators: tuple[str, ...]
    """Actuators that drive it; closing takes all of them from open to closed together."""
    open_ctrl: tuple[float, ...]
    """Control of `actuators` when open."""
    closed_ctrl: tuple[float, ...]
    """Control of `actuators` when closed."""
    joints: tuple[str, ...]
    """Finger joints, for the opening measured and for planning."""
    open_qpos: tuple[float, ...]
    """Positions of `joints` when open."""
    closed_qpos: tuple[float, ...]
    """Positions of `joints` when closed."""
    finger_bodies: tuple[tuple[str, ...], tuple[str, ...]]
    """The bodies of the two opposed sides, such as thumb and fingers, whose contact with an object means touching it."""
    max_width: float
    """Largest opening between the pads [m]."""
    force: float
    """Closing force at each pad [N]."""
    speed: float
    """Opening or closing speed of the whole gap [m/s], measured free."""
    squeeze: float = 0.0
    """How far past the surfaces of a thing the gap between the pads is sent to take it [m], of fingers that are soft servos;
    0: all the way closed, the force limit holds."""
    closed_width: float = 0.0
    """Gap between the pads when closed [m]: below 0 where soft servos aim past each other."""
    fingertips: tuple[Fingertip, ...] = ()
    """Of hands whose fingers can each be put where they are to touch: the thumb, then the fingers that oppose it."""
    dexterous: bool = False
    """Whether actions say every finger joint's target, one an actuator, in place of one closing."""

    @property
    def size(self) -> int:
        """Components of the canonical action."""
        return len(self.actuators) if self.dexterous else 1

    def closing_on(self, width: float) -> float:
        """Closing at which the pads are `width` [m] apart."""
        return min(max((self.max_width - width) / (self.max_width - self.closed_width), 0.0), 1.0)

    def taking(self, width: float) -> float:
        """Closing that takes hold of something `width` [m] wide."""
        return self.closing_on(width - self.squeeze) if self.squeeze else 1.0

    def controls(self, closing: float) -> tuple[float, ...]:
        """Control of `actuators` at a closing, 0 open to 1 closed."""
        closing = min(max(closing, 0.0), 1.0)
        return tuple(a + closing * (b - a) for a, b in zip(self.open_ctrl, self.closed_ctrl, strict=True))

    def action(self, closing: float) -> tuple[float, ...]:
        """Its part of the canonical action that says a closing, 0 open to 1 closed."""
        return self.controls(closing) if self.dexterous else (closing,)

    def closing(self, action: Sequence[float]) -> float:
        """The closing, 0 open to 1 closed, that its part of a canonical action comes nearest to."""
        if not self.dexterous:
            return float(action[0])
        way = [b - a for a, b in zip(self.open_ctrl, self.closed_ctrl, strict=True)]
        gone = [x - a for a, x in zip(self.open_ctrl, action, strict=True)]
        return float(sum(w * g for w, g in zip(way, gone, strict=True)) / sum(w * w for w in way))


@dataclass(frozen=True, kw_only=True)
class Cradle:
    """How an arm holds a dexterous hand for things to lie in it, palm up."""

    joints: tuple[float, ...]
    """Of the arm [rad]; the approach of its tool then points straight up."""
    fingers: tuple[float, ...]
    """Of the gripper's joints, round what lies there, and what their servos are sent to [rad]."""
    place: tuple[float, float, float]
    """Middle of the palm's face in the tool's frame [m]: where the root of a thing is that lies there."""
    play: tuple[float, float]
    """Farthest that a thing may lie from there along each axis [m], and be turned [rad]."""


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A serial chain with a tool at its end."""

    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    """Position actuators, one a joint, in the same order."""
    home: tuple[float, ...]
    """Rest position of `joints` [rad]."""
    velocity_limits: tuple[float, ...]
    """[rad/s], from the data sheet."""
    acceleration_limits: tuple[float, ...]
    """[rad/s^2], as used for planning."""
    tcp_site: str
    """Site at the tool centre point: z approach (out of the palm), y closing."""
    gripper: Gripper
    reach: float
    """Farthest the TCP gets from the arm's base [m]."""
    name: str = "arm"
    """For people, and for telling several arms apart: "left", "right"."""
    cradle: Cradle | None = None
    """How things lie in its hand; None: they cannot."""


@dataclass(frozen=True, kw_only=True)
class Base:
    """What carries the arm."""

    kind: Literal["fixed", "planar", "floating"]
    """Floating: it stands on its own feet, by a free joint and a balance controller on board (`Robot.onboard`)."""
    joints: tuple[str, ...] = ()
    """Planar: the slides along world x and y, then the hinge about z. Fixed: none."""
    actuators: tuple[str, ...] = ()
    radius: float = 0.15
    """Radius of a disc round the base origin that must stay clear of everything on the floor [m]."""
    velocity_limits: tuple[float, ...] = ()
    """[m/s, m/s, rad/s]."""
    acceleration_limits: tuple[float, ...] = ()
    footprint: tuple[float, float] = (0.3, 0.3)
    """Full extents along x and y of the mount, vehicle or feet on the floor [m]."""

    @property
    def stands(self) -> bool:
        """Whether it stays where the scenario puts it."""
        return self.kind != "planar"


@dataclass(frozen=True, kw_only=True)
class Onboard:
    """The balance controller of a robot on two feet (see `embodiments.balance`): what it drives besides the arms."""

    joints: tuple[str, ...]
    """Joints of legs and waist, each with a position servo of its own."""
    actuators: tuple[str, ...]
    """Those servos, in the same order."""
    legs: tuple[str, ...]
    """Those of `joints` that balance: six a leg. The others keep their place in `stance`."""
    stance: tuple[float, ...]
    """Positions of `joints` [rad] from which the stance is searched."""
    feet: tuple[str, str]
    """Sites at the soles' bodies; what the feet stand on are the spheres of these bodies."""
    mount: str
    """Body that carries the arms: where it is measured to be is where the arms are planned from."""
    fallen: tuple[float, float] = (0.12, 0.5)
    """How far the base may sink [m] or tilt [rad] before the robot has fallen."""


@dataclass(frozen=True, kw_only=True)
class RobotCamera:
    """A camera fixed to a robot body (already part of the model)."""

    name: str
    body: str


@dataclass(frozen=True, kw_only=True)
class Robot:
    """One embodiment. `build()` returns a fresh fragment whose only top-level body is the base, at the origin, facing +x."""

    name: str
    title: str
    """For people: "Franka Emika Panda on a fixed mount"."""
    licence: str
    source: str
    """Where the model comes from, for people."""
    build: Callable[[], mujoco.MjSpec]
    base: Base
    """A fixed base is bolted at the scenario's base pose; the world draws a pedestal from the floor up to it. A planar base
    is a vehicle on the floor: its fragment holds the vehicle with the arm on top, at their real heights."""
    arms: tuple[Arm, ...]
    cameras: tuple[RobotCamera, ...] = ()
    arm_height: float = 0.0
    """Height of the first arm's own base above the origin of the robot's base [m]; a fixed base is mounted by so much below the
    work surface."""
    work: tuple[float, float] = (0.30, 0.70)
    """Horizontal distances from the base [m] between which things lie well to be taken from above."""
    onboard: Onboard | None = None
    """What keeps a floating base upright; None for any other."""
    models: tuple[str, ...] = ()
    """Menagerie models that `build` takes from `models.folder`: so that one can tell whether they are here without a download."""
    excluded_collisions: tuple[tuple[str, str], ...] = ()
    """Body pairs whose contacts mean nothing. The model that `build` returns excludes them already."""

    @property
    def arm(self) -> Arm:
        """The first arm."""
        return self.arms[0]

    @property
    def cradle(self) -> Cradle | None:
        """How things lie in the hand of the first arm; None: they cannot."""
        return self.arm.cradle
