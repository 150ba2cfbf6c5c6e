"""The upper body of the Unitree G1 humanoid on a stand: two arms with three-finger hands."""

from __future__ import annotations

import mujoco

from embodiedsmith.embodiments import models, unitree_g1
from embodiedsmith.embodiments.description import Base, Robot

_PELVIS = 0.17
"""Height of the pelvis above the stand [m]: its lowest part is 0.15 m below it."""


@models.made_once
def build() -> mujoco.MjSpec:
    """A fresh fragment: pelvis bolted to the base, waist straight and locked, no legs."""
    spec = unitree_g1.body()
    for side in unitree_g1.SIDES:
        for joint in unitree_g1.LEG:
            spec.delete(spec.actuator(f"{side}_{joint}_joint"))
        spec.delete(spec.body(f"{side}_hip_pitch_link"))
    for joint in unitree_g1.WAIST:
        spec.delete(spec.actuator(f"{joint}_joint"))
        spec.delete(spec.joint(f"{joint}_joint"))
    spec.body("pelvis").pos = (0.0, 0.0, _PELVIS)
    spec.body("base").add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER, pos=(0, 0, 0.03), size=(0.06, 0.03, 0), rgba=(0.32, 0.33, 0.36, 1.0), mass=0.0
    )
    for link in spec.bodies:
        link.gravcomp = 1.0  # the real controller compensates the arms' own weight
    return spec


ROBOT = Robot(
    name="g1_stand",
    title="Unitree G1 humanoid's upper body on a stand, with two three-finger hands",
    licence=unitree_g1.LICENCE,
    source=unitree_g1.SOURCE,
    models=(unitree_g1.MODEL,),
    build=build,
    base=Base(kind="fixed", radius=0.2, footprint=(0.16, 0.22)),
    arms=unitree_g1.ARMS,
    cameras=unitree_g1.CAMERAS,
    arm_height=_PELVIS + unitree_g1.PELVIS_BELOW,
    work=unitree_g1.WORK,
    excluded_collisions=unitree_g1.EXCLUDED_ARMS,
)
