"""How to dig grains out of a vessel with a scoop, and how to turn them out over another.

Both are led by the scoop's lip. It goes into the middle of the grains steeply, along the floor while the scoop lies down, and up
with the scoop tipped back so that nothing rolls out at its front. Bearings along which the lip points at the robot come first:
the hand, which leans away from the lip, is then on the robot's side.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from embodiedsmith.assets.asset import Lip, Rim
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.pouring import HEADINGS, JUMP, STEP, PourPlan, follow_tipping, levelled, opening, outline, tipping
from embodiedsmith.spec import split_reference
from embodiedsmith.world import transforms as tf

DIG = (
    (0.0, None, 0.0), (-0.3, 0.03, 0.87), (-0.3, 0.005, 0.87), (0.3, 0.005, 0.45), (0.5, 0.016, 0.15), (0.55, 0.032, -0.14),
    (0.4, None, -0.14),
)  # fmt: skip
"""Places of the lip on the way: along its bearing from the middle, in radii of the mouth; over the floor [m], None for over the
rim; and how far the scoop is tipped forwards [rad]."""
OVER = 0.05
"""[m] over the rim."""
SHALLOWER = (0.0, 0.006, 0.012)
"""[m] by which the lip keeps away from the floor more, where that is needed."""
BEARINGS = tuple(np.deg2rad([0.0, 25.0, -25.0, 50.0, -50.0, 80.0, -80.0, 120.0, -120.0, 180.0]))
"""Turns of the lip from the direction of the robot that are tried, in order."""
ROWS = (0.006, 0.06)
"""[m, rad] between the poses of a path."""
BACK_TILT = 0.14
"""[rad] by which a loaded scoop is tipped back."""
OUT = np.arange(-BACK_TILT, np.deg2rad(80.0), STEP)
"""How far it is tipped to turn out what is on it [rad]."""
LEAST_OUT = np.deg2rad(60.0)
"""To which it must be possible to tip it, or grains stay on it."""
LIFTS = (0.0, 0.03, 0.06)
"""[m] higher than need be over what it is turned out into."""


def lip_of(control: Controller, tool: str) -> Lip:
    """The lip of a scoop; raises MotionError `scoop.no_lip`."""
    lips = control.world.assets[tool].affordances.lips
    if not lips:
        raise MotionError("scoop.no_lip", f"{tool} has no lip to scoop with", subjects=(tool,))
    return lips[0]


def plan_dig(control: Controller, tool: str, source: str) -> tf.Float:
    """Joint path (k, n) of a scoop in the hand from over a cavity named `item.cavity` through what is in it and up again.

    The checker must look at the world.

    Raises:
        MotionError: `scoop.no_lip`, `scoop.unreachable`, `scoop.blocked`.
    """
    held = control.held
    assert held is not None
    T_lip_tool = tf.inverse(tf.matrix(lip_of(control, tool).pose))
    mouth = opening(control, source)
    cavity, T = control.world.cavity(source)
    ahead = float(np.arctan2(*(control.mount()[:2] - T[:2, 3])[::-1]))
    blocked = unreachable = 0
    for shallower in SHALLOWER:
        for turn in BEARINGS:
            lips = _dig(T[:3, 3], ahead + turn, mouth.radius, cavity.size[2], shallower)
            path = _joints(control, [lip @ T_lip_tool @ tf.inverse(held.T_tcp_item) for lip in lips])
            if path is None:
                unreachable += 1
            elif control.checker.path_hit(path) is not None:
                blocked += 1
            else:
                return path
    code, value = ("scoop.blocked", blocked) if blocked else ("scoop.unreachable", unreachable)
    said = f"no way to dig in {source} with {tool}: {unreachable} out of reach, {blocked} blocked"
    raise MotionError(code, said, subjects=(tool, split_reference(source)[0]), value=float(value), limit=0.0)


def _dig(floor: tf.Float, bearing: float, radius: float, depth: float, shallower: float) -> list[tf.Float]:
    """World poses (4, 4) of the lip, close to each other."""
    R = tf.turn_z(bearing)
    places = []
    for along, height, tip in DIG:
        z = depth + OVER if height is None else height + shallower
        places.append((along * radius, z, tip))
    rows = [places[0]]
    for a, b in pairwise(np.array(places)):
        count = int(np.ceil(max(np.hypot(*(b - a)[:2]) / ROWS[0], abs(b[2] - a[2]) / ROWS[1])))
        rows += [tuple(a + (b - a) * k / count) for k in range(1, count + 1)]
    return [tf.translate(floor) @ R @ tf.translate((x, 0.0, z)) @ tf.turn((0.0, 1.0, 0.0), tip) for x, z, tip in rows]


def _joints(control: Controller, poses: list[tf.Float]) -> tf.Float | None:
    """Arm joints (k, n) along world tool poses; None when it leaves reach or jumps."""
    T_base = tf.inverse(control.base_pose())
    for posture in control.postures(poses[0]):
        rows = [posture.joints]
        for T in poses[1:] if posture.ok else ():
            solved = control.kin.inverse(T_base @ T, rows[-1], iterations=15)
            if not solved.ok or np.abs(solved.joints - rows[-1]).max() > JUMP:
                break
            rows.append(solved.joints)
        if len(rows) == len(poses):
            return np.array(rows)
    return None


def plan_turn_out(control: Controller, tool: str, target: str) -> PourPlan:
    """The first way found to turn a scoop in the hand out over a cavity named `item.cavity`. The checker must look at the world.

    Raises:
        MotionError: `scoop.no_lip`, `scoop.unreachable`, `scoop.blocked`.
    """
    world, held = control.world, control.held
    assert held is not None
    lip = lip_of(control, tool)
    edge = Rim(name=lip.name, body=lip.body, pose=lip.pose, radius=0.0)
    mouth, walls = opening(control, target), outline(control, tool)
    points = levelled(world.item_pose(tool)[:3, :3]) @ tf.matrix(lip.pose)[:3, 0]
    now = float(np.arctan2(points[1], points[0]))
    blocked = unreachable = 0
    for lift in LIFTS:
        for heading in HEADINGS:
            poses = tipping(world.item_pose(tool), walls, edge, mouth, heading, now + heading, lift, OUT)
            found, hit = follow_tipping(control, [T @ tf.inverse(held.T_tcp_item) for T in poses], OUT, LEAST_OUT)
            if found is not None:
                return found
            blocked += hit
            unreachable += not hit
    code, value = ("scoop.blocked", blocked) if blocked else ("scoop.unreachable", unreachable)
    said = f"no way to turn {tool} out over {target}: {unreachable} out of reach, {blocked} blocked"
    raise MotionError(code, said, subjects=(tool, split_reference(target)[0]), value=float(value), limit=0.0)
