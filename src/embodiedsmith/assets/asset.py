"""What an asset is: a MuJoCo fragment, its true mass properties, and its affordances.

Frames. An asset's root body is named `root`; its origin is the centre of the footprint, z up, so that an item
resting on a surface has root z = 0 in the surface's frame. Furniture faces +x: drawers and doors open towards +x.

Grasp frames. A grasp is a pose of the tool centre point (TCP): z is the approach direction (out of the palm, towards
the object), y the closing direction of the fingers, the origin midway between the fingertips' pads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.spec import AssetSpec, Pose, Vec3

Shape = Literal["rectangle", "disc"]


@dataclass(frozen=True, kw_only=True)
class Grasp:
    """One way to hold the asset with two parallel fingers."""

    body: str
    """Body of the fragment it moves with."""
    pose: Pose
    """TCP pose in the body's frame: z approach, y closing."""
    width: float
    """Extent of the object between the fingers along the closing direction [m]."""
    kind: Literal["top", "side", "rim", "bar"]
    """How the object is held: from above, from the side, by a wall, by a bar."""


@dataclass(frozen=True, kw_only=True)
class Support:
    """A flat surface that things can stand on."""

    name: str
    body: str
    pose: Pose
    """Frame at the centre of the surface in the body's frame; z is the surface's normal."""
    size: tuple[float, float]
    """Full extents along the frame's x and y [m]; a disc gives its diameter twice."""
    shape: Shape = "rectangle"
    headroom: float = float("inf")
    """Free height above the surface [m]."""


@dataclass(frozen=True, kw_only=True)
class Cavity:
    """A volume that things can be inside of."""

    name: str
    body: str
    pose: Pose
    """Frame at the centre of the cavity's floor in the body's frame; z is up."""
    size: Vec3
    """Full inner extents along the frame's x, y, z [m]."""
    opening: Vec3
    """Unit vector in the cavity's frame pointing out of its opening: (0, 0, 1) open above, (1, 0, 0) open at the front."""
    shape: Shape = "rectangle"
    joint: str | None = None
    """The joint that gives access when open (its drawer's slide, its door's hinge); None: always accessible."""


@dataclass(frozen=True, kw_only=True)
class Handle:
    """A bar that moves a joint when pulled."""

    name: str
    body: str
    joint: str
    center: Vec3
    """Centre of the bar in the body's frame [m]."""
    axis: Vec3
    """Unit vector along the bar in the body's frame."""
    outward: Vec3
    """Unit vector in the body's frame from the panel to the bar: a hand approaches along its negative."""
    radius: float
    """Radius of the bar [m]."""
    length: float
    """Free length of the bar [m]."""
    push: Vec3
    """Point in the body's frame on the outer face of the panel, good to push the joint closed [m]."""
    knob: bool = False
    """Whether it is round about its outward direction, which is the joint's axis: held at any turn, it turns with the hand."""


@dataclass(frozen=True, kw_only=True)
class Rim:
    """A circular edge to pour from or to pinch."""

    name: str
    body: str
    pose: Pose
    """Frame at the circle's centre in the body's frame; z is the circle's axis, outwards."""
    radius: float


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A level rod with nothing under it, to hang things over."""

    name: str
    body: str
    center: Vec3
    """Middle of its axis in the body's frame [m]."""
    axis: Vec3
    """Unit vector along it in the body's frame."""
    radius: float
    length: float
    """Of what is free between its ends [m]."""


@dataclass(frozen=True, kw_only=True)
class Lip:
    """The free edge of a scoop, level with the floor of what it digs out: what is on that floor leaves over it."""

    name: str
    body: str
    pose: Pose
    """Frame at the middle of the edge in the body's frame; x points out over it, z up from the floor."""
    width: float
    """Length of the edge [m]."""


@dataclass(frozen=True, kw_only=True)
class JointInfo:
    """A joint of the asset, as people think of it."""

    name: str
    kind: Literal["slide", "hinge"]
    closed: float
    """Joint position when closed [m or rad]."""
    open: float
    """Joint position when fully open [m or rad]."""


@dataclass(frozen=True, kw_only=True)
class Affordances:
    """What can be done with an asset. A drawer's cavity, handle and joint carry the same name, which is the part's name."""

    supports: tuple[Support, ...] = ()
    cavities: tuple[Cavity, ...] = ()
    grasps: tuple[Grasp, ...] = ()
    pairs: tuple[tuple[Grasp, Grasp], ...] = ()
    """Two grasps each, far apart, that carry it with a hand at each: of what one hand alone would let tip."""
    handles: tuple[Handle, ...] = ()
    rims: tuple[Rim, ...] = ()
    lips: tuple[Lip, ...] = ()
    bars: tuple[Bar, ...] = ()

    def support(self, name: str | None = None) -> Support:
        """The support of that name, or the first; raises KeyError naming those there are."""
        return _named(self.supports, name, "support")

    def cavity(self, name: str | None = None) -> Cavity:
        """The cavity of that name, or the first; raises KeyError naming those there are."""
        return _named(self.cavities, name, "cavity")

    def handle(self, name: str | None = None) -> Handle:
        """The handle of that name, or the first; raises KeyError naming those there are."""
        return _named(self.handles, name, "handle")

    def bar(self, name: str | None = None) -> Bar:
        """The bar of that name, or the first; raises KeyError naming those there are."""
        return _named(self.bars, name, "bar")


_Part = TypeVar("_Part", Support, Cavity, Handle, Bar)


def _named(parts: tuple[_Part, ...], name: str | None, what: str) -> _Part:
    for part in parts:
        if name is None or part.name == name:
            return part
    raise KeyError(f"no {what} {name or ''!r}; there are {[part.name for part in parts]}")


@dataclass(frozen=True, kw_only=True)
class Matter:
    """What an asset is made of when it has no shape of its own: many points that move against each other."""

    kind: Literal["liquid", "grains", "cloth", "soft", "rope", "marks"]
    bodies: tuple[str, ...] = ()
    """Bodies of the fragment whose origins are its points, in order: grains, links of a rope."""
    flex: str = ""
    """Name of the fragment's flex whose vertices are its points: cloth, soft bodies."""
    spacing: float = 0.0
    """Distance of neighbouring points at rest [m]."""
    grid: tuple[int, int] = (0, 0)
    """Points of a cloth along its x and y: point k is the one at (k // grid[1], k % grid[1])."""


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A built asset. `mjspec` is a fragment: exactly one top-level body, named `root`, without a free joint."""

    spec: AssetSpec
    mjspec: mujoco.MjSpec
    mass: float
    """True total mass [kg]."""
    extents: tuple[Vec3, Vec3]
    """Lower and upper corner of the axis-aligned box round everything, in the root frame, all joints closed [m]."""
    affordances: Affordances
    joints: dict[str, JointInfo] = field(default_factory=dict)
    fixed: bool = False
    """Whether it is furniture: bolted down unless an Item says otherwise."""
    matter: Matter | None = None
    """What it consists of when it is not rigid; see `World.matter`."""

    @property
    def size(self) -> NDArray[np.float64]:
        """Full extents of the bounding box [m], shape (3,)."""
        return np.subtract(self.extents[1], self.extents[0], dtype=np.float64)
