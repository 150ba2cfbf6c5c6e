"""What a robot model is, asked of the model itself: which joints are the arm, which bodies close on each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
LINK = 0.85
"""Part of a finger's reach that another link of the same linkage has at most."""
LEAST_ARM_JOINTS = 4
"""Fewest joints between base and palm for a pick and place: three for the place, one for the turn."""

_MOVING = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True)
class Anatomy:
    """Which part of a model is what, by name."""

    palm: str
    """The body that carries both sides of the gripper."""
    arm_joints: tuple[str, ...]
    """From the base outwards."""
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    """Bodies of the two sides of the gripper."""
    finger_joints: tuple[str, ...]
    others: tuple[str, ...]
    """Joints that are neither: they are fixed where they stand."""


class NoArm(Exception):
    """A model without an arm that ends in two sides that close on each other; its text says why."""


def dissect(model: Any, palm: str | None = None) -> tuple[Anatomy, tuple[str, ...]]:
    """The arm and gripper of a compiled model, and the palms of all that could have been meant, best first.

    Args:
        model: a compiled `MjModel`.
        palm: the palm to take; None: the one at the end of the longest arm, the first by name of equals.

    Raises:
        NoArm: there is none.
    """
    found = sorted(_grippers(model), key=lambda entry: (-len(_joints_above(model, entry[0])), model.body(entry[0]).name))
    palms = tuple(model.body(body).name for body, _ in found)
    if palm is not None:
        found = [entry for entry in found if model.body(entry[0]).name == palm]
        if not found:
            raise NoArm(f"no gripper is carried by a body '{palm}'; those that carry one are {list(palms)}")
    if not found:
        longest = max((len(_joints_above(model, body)) for body in range(1, model.nbody)), default=0)
        raise NoArm(
            f"no body carries two sides that move on joints of their own after {LEAST_ARM_JOINTS} arm joints "
            f"(the longest chain has {longest} joints): a two-finger gripper is missing"
        )
    body, sides = found[0]
    arm = _joints_above(model, body)
    fingers = [joint for side in sides for member in side for joint in _joints_of(model, member)]
    known = {*arm, *fingers}
    others = [j for j in range(model.njnt) if j not in known]
    a, b = (tuple(model.body(member).name for member in side) for side in sides)
    name = [model.joint(j).name for j in range(model.njnt)]
    return (
        Anatomy(
            palm=model.body(body).name,
            arm_joints=tuple(name[j] for j in arm),
            sides=(a, b),
            finger_joints=tuple(name[j] for j in fingers),
            others=tuple(name[j] for j in others),
        ),
        palms,
    )


def _grippers(model: Any) -> Iterator[tuple[int, tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Bodies at the end of an arm that carry exactly two groups of moving bodies."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for body in range(1, model.nbody):
        if len(_joints_above(model, body)) < LEAST_ARM_JOINTS:
            continue
        branches = [c for c in range(1, model.nbody) if model.body_parentid[c] == body and _moves(model, c)]
        groups = _paired(model, data, body, _groups(model, [tuple(_subtree(model, branch)) for branch in branches]))
        if len(groups) == 2:
            yield body, (groups[0], groups[1])


def _groups(model: Any, branches: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Branches joined where a loop of the linkage is closed by a constraint between them."""
    groups = [set(branch) for branch in branches]
    for k in range(model.neq):
        if not any(model.eq_type[k] == kind for kind in (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD)):
            continue
        pair = {_body_of(model, k, int(model.eq_obj1id[k])), _body_of(model, k, int(model.eq_obj2id[k]))}
        touched = [group for group in groups if group & pair]
        if len(touched) == 2:
            groups = [group for group in groups if group not in touched] + [touched[0] | touched[1]]
    return sorted((tuple(sorted(group)) for group in groups), key=lambda group: group[0])


def _paired(model: Any, data: Any, palm: int, groups: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Of more than two groups the two that reach farthest, with the links of the linkage nearest to each.

    Three that reach alike are a hand, not a gripper: they stay three.
    """
    if len(groups) <= 2:
        return groups

    def places(group: tuple[int, ...]) -> Float:
        return np.array([data.geom_xpos[g] - data.xpos[palm] for g in range(model.ngeom) if int(model.geom_bodyid[g]) in group])

    reach = {group: float(np.linalg.norm(places(group), axis=1).max()) for group in groups}
    ranked = sorted(groups, key=lambda group: -reach[group])
    if reach[ranked[2]] > LINK * reach[ranked[1]]:
        return groups
    first, second = set(ranked[0]), set(ranked[1])
    middles = [places(group).mean(axis=0) for group in ranked[:2]]
    for group in ranked[2:]:
        off = [float(np.linalg.norm(places(group).mean(axis=0) - middle)) for middle in middles]
        (first if off[0] < off[1] else second).update(group)
    return sorted((tuple(sorted(first)), tuple(sorted(second))), key=lambda group: group[0])


def _body_of(model: Any, equality: int, index: int) -> int:
    if model.eq_objtype[equality] == mujoco.mjtObj.mjOBJ_SITE:
        return int(model.site_bodyid[index])
    return index


def _moves(model: Any, body: int) -> bool:
    """Whether a branch has joints, and shapes that can touch."""
    bodies = set(_subtree(model, body))
    touches = any(int(model.geom_bodyid[g]) in bodies for g in range(model.ngeom))
    return touches and any(_joints_of(model, member) for member in bodies)


def _subtree(model: Any, body: int) -> list[int]:
    members = [body]
    for other in range(body + 1, model.nbody):
        if int(model.body_parentid[other]) in members:
            members.append(other)
    return members


def _joints_of(model: Any, body: int) -> list[int]:
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    return [j for j in range(first, first + count) if any(model.jnt_type[j] == kind for kind in _MOVING)]


def _joints_above(model: Any, body: int) -> list[int]:
    """Joints from the base to a body, its own among them."""
    chain: list[int] = []
    while body > 0:
        chain = _joints_of(model, body) + chain
        body = int(model.body_parentid[body])
    return chain
