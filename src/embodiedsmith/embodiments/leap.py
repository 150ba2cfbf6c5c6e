"""The LEAP hand: sixteen servos in three fingers and a thumb, as a hand whose thumb opposes its fingers.

Its tool centre point lies midway between the pads of the thumb and of the middle finger; the approach points out of the palm, the
closing direction from thumb to fingers. Fingers are soft servos: how hard the hand holds is how far past the surface of a
thing it aims (`Gripper.squeeze`).
"""

from __future__ import annotations

import itertools
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.embodiments import contact, models
from embodiedsmith.embodiments.description import Fingertip, Gripper
from embodiedsmith.embodiments.meshes import simplify_visuals

MODEL = "leap_hand"
FINGERS = ("if", "mf", "rf")
"""Index, middle and ring finger, as the model's names begin."""
THUMB = "th"
TCP = (-0.030, -0.037, -0.125)
"""Tool centre point in the palm's frame [m], 5 mm beyond the middles of the fingertips."""

_STIFFNESS, _THUMB_STIFFNESS = 3.0, 5.0
"""Servo stiffness [N m/rad]: the thumb then pushes as hard as three fingers, and what is squeezed stays where it is."""
_SETTLING = 0.04
"""Servo damping over stiffness [s]."""
_TORQUE = 0.93
"""[N m] Stall torque of the hand's servos (Dynamixel XC330-M288-T at 5 V, e-manual)."""
_ARMATURE = 0.0015
"""[kg m^2] Rotor inertia through the gears; the model has none, and fingers of 16 g ring at any stiffness without."""
_SQUEEZE = 0.030
"""[m] The thumb then pushes with some 10 N."""
_TIP = 0.0115
"""Radius of the fingertips across the finger [m], from the bounds of the model's mesh."""

_OPEN = {
    "if": (0.606, 0.340, 1.099, -0.237), "mf": (0.573, -0.007, 1.202, -0.277), "rf": (0.605, -0.352, 1.099, -0.236),
    "th": (1.237, 1.719, 1.406, -1.072),
}  # fmt: skip
_CLOSED = {
    "if": (1.169, 0.389, 1.247, -0.346), "mf": (1.136, -0.008, 1.338, -0.346), "rf": (1.167, -0.404, 1.250, -0.346),
    "th": (1.426, 0.692, 1.013, -0.349),
}  # fmt: skip
"""Joint angles [rad] at a gap of 100 mm and at -30 mm between the pads, fitted so that on the straight line between the two in
joint space the fingertips move along the closing direction within 3 mm (the thumb within 6 mm), 27 mm apart, and point along
the approach."""


LYING = (0.8, 0.0, 0.8, 0.8) * 3 + (0.8, 0.8, 0.8, 0.0)
"""Joints of the hand, palm up, with a thing lying in it [rad]: fingers and thumb stand round it."""
PALM = (0.005, -0.028, -0.088)
"""Middle of what lies on the palm, in the tool's frame [m]: between the fingers and the thumb, on the palm's face."""
PLAY = (0.006, 0.2)
"""How far from there [m] and how much turned [rad] a block of 65 mm has room."""


def build_hand() -> mujoco.MjSpec:
    """A fresh model of the hand; its palm's frame is the model's own. Sites `<finger>_tip` are the middles of the fingertips."""
    folder = models.folder(MODEL)
    spec = mujoco.MjSpec.from_file(str(folder / "right_hand.xml"))
    contact.OPTIONS.apply(spec)
    for part in (*spec.keys, *spec.sensors, *spec.excludes):
        spec.delete(part)
    tips = {finger: np.array(spec.geom(f"{finger}_tip").pos) for finger in (*FINGERS, THUMB)}
    centres = _tip_centres(spec)
    for geom in list(spec.geoms):
        if geom.contype or geom.conaffinity:
            _soften(spec, geom)
    for finger in tips:
        spec.body(f"{finger}_ds").add_site(name=f"{finger}_tip", pos=centres[finger], size=(0.004, 0.004, 0.004), group=4)
        _knuckle(spec.body(f"{finger}_ds"), thumb=finger == THUMB)
    simplify_visuals(spec, folder / spec.meshdir)
    for joint, actuator in zip(spec.joints, spec.actuators, strict=True):
        stiffness = _THUMB_STIFFNESS if joint.name.startswith(THUMB) else _STIFFNESS
        joint.armature = _ARMATURE
        actuator.gainprm = [stiffness] + [0.0] * 9
        actuator.biasprm = [0.0, -stiffness, -_SETTLING * stiffness] + [0.0] * 7
        actuator.forcerange = (-_TORQUE, _TORQUE)
    for a, b in EXCLUDED:
        spec.add_exclude(bodyname1=a, bodyname2=b)
    return spec


def gripper(prefix: str) -> Gripper:
    """The description of the hand whose names begin with `prefix`."""
    names = _joints()
    opened, closed = (tuple(posture[name[:2]][k] for name, k in names) for posture in (_OPEN, _CLOSED))
    return Gripper(
        actuators=tuple(f"{prefix}{name}_act" for name, _ in names),
        open_ctrl=opened,
        closed_ctrl=closed,
        joints=tuple(prefix + name for name, _ in names),
        open_qpos=opened,
        closed_qpos=closed,
        finger_bodies=(
            tuple(f"{prefix}{THUMB}_{link}" for link in ("px", "ds")),
            tuple(f"{prefix}{finger}_{link}" for finger in FINGERS for link in ("px", "md", "ds")),
        ),
        max_width=0.10,
        squeeze=_SQUEEZE,
        closed_width=-_SQUEEZE,
        fingertips=tuple(
            Fingertip(site=f"{prefix}{f}_tip", joints=tuple(prefix + n for n, _ in names if n.startswith(f)), radius=_TIP)
            for f in (THUMB, *FINGERS)
        ),
        force=9.0,
        speed=0.4,
        dexterous=True,
    )


def _joints() -> list[tuple[str, int]]:
    """Joints in the model's order, each with its place in its finger."""
    kinds = ("mcp", "rot", "pip", "dip"), ("cmc", "axl", "mcp", "ipl")
    return [(f"{f}_{kind}", k) for f in (*FINGERS, THUMB) for k, kind in enumerate(kinds[f == THUMB])]


def _links(finger: str) -> tuple[str, ...]:
    return tuple(f"{finger}_{link}" for link in (("mp", "bs", "px", "ds") if finger == THUMB else ("bs", "px", "md", "ds")))


_ROOTS = ("palm", *(link for finger in FINGERS for link in _links(finger)[:2]), *_links(THUMB)[:2])
EXCLUDED = tuple(
    dict.fromkeys(
        [
            *itertools.combinations(_ROOTS, 2),
            *(pair for finger in (*FINGERS, THUMB) for pair in itertools.combinations(("palm", *_links(finger)), 2)),
        ]
    )
)
"""Links of one finger and the bases of all of them, which their joints keep apart, and overlap by construction."""


def _tip_centres(spec: mujoco.MjSpec) -> dict[str, NDArray[np.float64]]:
    """Middle of each fingertip in its last link's frame [m]."""
    model = spec.copy().compile()
    return {finger: model.geom(f"{finger}_tip").pos.copy() for finger in (*FINGERS, THUMB)}


def _soften(spec: mujoco.MjSpec, geom: Any) -> None:
    """Contact properties of a link: pads at the fingertips, plain plastic elsewhere; thin plates go, other shapes cover them."""
    if geom.name.endswith("_tip"):
        contact.make_pad(geom)
        geom.group = 2  # seen, too
    elif min(geom.size) <= _PLATE:
        spec.delete(geom)
    else:
        geom.solref, geom.solimp, geom.friction = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0), (0.5, 0.005, 0.0001)
        geom.group = 3


_PLATE = 0.004
"""Half the thickness of the thickest plate that needs no collision shape of its own [m]."""


def _knuckle(body: Any, *, thumb: bool) -> None:
    """One box from a last link's joint to its fingertip."""
    where = {"pos": (0.0, -0.014, -0.0145), "size": (0.010, 0.018, 0.012)} if thumb else {
        "pos": (0.0, -0.008, 0.0145), "size": (0.010, 0.012, 0.0125),
    }  # fmt: skip
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, group=3, mass=0.0, density=0.0, **where)
