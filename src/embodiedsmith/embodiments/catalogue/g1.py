"""The Unitree G1 humanoid on its own feet: two arms with three-finger hands, balanced by its legs."""

from __future__ import annotations

import mujoco

from embodiedsmith.embodiments import models, unitree_g1
from embodiedsmith.embodiments.description import Base, Onboard, Robot

_PELVIS = 0.72
"""Height of the pelvis above the floor [m]: 7 cm below that of straight legs, so that it works at a table of 0.74 m."""
_KNEE = 0.95
"""[rad] from which the stance is searched: about that of the height above."""
_STIFFNESS, _SETTLING = 800.0, 0.08
"""Leg and waist servos [N m/rad], [s]: on its ankles the robot is a pendulum of 15 kg m^2 that these hold up with four times the
stiffness that gravity takes away (34 kg at 0.6 m), damped to a third of critical."""

_SOLE = {"ankle_pitch": (-6.5, 18.0), "ankle_roll": (-4.0, 4.0)}
"""Torques [N m] of the ankles: no more than half the robot's weight on the edge of a sole gives, so that feet stay flat on the
floor when the body is pushed (a sole reaches 0.05 m behind the ankle, 0.12 m before it and 0.03 m to its sides)."""

_LEGS = tuple(f"{side}_{joint}_joint" for side in unitree_g1.SIDES for joint in unitree_g1.LEG)
_WAIST = tuple(f"{joint}_joint" for joint in unitree_g1.WAIST)
_BENT = {"hip_pitch": -_KNEE / 2, "knee": _KNEE, "ankle_pitch": -_KNEE / 2}


def _neighbours(side: str) -> tuple[tuple[str, str], ...]:
    links = [f"{side}_{joint}_link" for joint in unitree_g1.LEG]
    return tuple((a, b) for i, a in enumerate(links) for b in links[i + 1 : i + 4])


_EXCLUDED = (
    *unitree_g1.EXCLUDED_ARMS,
    *(pair for side in unitree_g1.SIDES for pair in _neighbours(side)),
    *(("pelvis", f"{side}_{link}_link") for side in unitree_g1.SIDES for link in unitree_g1.LEG[:3]),
)
"""Neighbours, whose shapes overlap at their joint by construction."""


@models.made_once
def build() -> mujoco.MjSpec:
    """A fresh fragment: base on the floor under the pelvis, free to move, with servos in every joint and nothing weightless."""
    spec = unitree_g1.body()
    spec.body("pelvis").pos = (0.0, 0.0, _PELVIS)
    spec.body("base").add_freejoint(name="free")
    for joint in (*_LEGS, *_WAIST):
        unitree_g1.servo(spec, joint, _STIFFNESS, _SETTLING)
    for side in unitree_g1.SIDES:
        for joint, limits in _SOLE.items():
            ankle = spec.actuator(f"{side}_{joint}_joint")
            ankle.forcerange, ankle.forcelimited = limits, True
    for a, b in _EXCLUDED[len(unitree_g1.EXCLUDED_ARMS) :]:
        spec.add_exclude(bodyname1=a, bodyname2=b)
    return spec


ROBOT = Robot(
    name="g1",
    title="Unitree G1 humanoid on its own feet, with two three-finger hands",
    licence=unitree_g1.LICENCE,
    source=unitree_g1.SOURCE,
    models=(unitree_g1.MODEL,),
    build=build,
    base=Base(kind="floating", radius=0.25, footprint=(0.16, 0.34)),
    arms=unitree_g1.ARMS,
    cameras=unitree_g1.CAMERAS,
    arm_height=_PELVIS + unitree_g1.PELVIS_BELOW,
    work=unitree_g1.WORK,
    onboard=Onboard(
        joints=(*_LEGS, *_WAIST),
        actuators=(*_LEGS, *_WAIST),
        legs=_LEGS,
        stance=(*(_BENT.get(joint, 0.0) for _ in unitree_g1.SIDES for joint in unitree_g1.LEG), 0.0, 0.0, 0.0),
        feet=("right_foot", "left_foot"),
        mount="torso_link",
    ),
    excluded_collisions=_EXCLUDED,
)
