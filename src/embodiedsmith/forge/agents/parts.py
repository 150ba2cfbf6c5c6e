"""Which drawer, door or board of a thing is meant: by name, by height, by side."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.assets import Asset, build, category
from embodiedsmith.assets.category import InvalidAsset
from embodiedsmith.spec import AssetSpec, Pose
from embodiedsmith.spec.scene import ParamValue

NEEDED = {"middle": 3, "2": 2, "3": 3, "4": 4, "left": 2, "right": 2, "top": 2, "bottom": 2}
"""How many like parts there must be for a position to say anything."""


KINDS = {"compartment": ("door", "board")}
"""Kinds of part that a word may mean, where they are called otherwise: what is behind a door, or between two boards."""


class PartMissing(ValueError):
    """A thing has no such drawer, door or board."""


def part_names(asset: Asset) -> list[str]:
    """Names of drawers, doors and boards, from top to bottom and, side by side, from left to right."""
    heights: dict[str, tuple[float, float]] = {}
    for handle in asset.affordances.handles:
        offset = _offset(asset, handle.body)
        heights[handle.name] = (-offset[2] - handle.center[2], offset[1] + handle.center[1])
    for joint in asset.joints:
        heights.setdefault(joint, (0.0, 0.0))
    for support in asset.affordances.supports:
        heights.setdefault(support.name, _rank(support.pose))
    for cavity in asset.affordances.cavities:
        heights.setdefault(cavity.name, _rank(cavity.pose))
    return sorted(heights, key=lambda name: (round(heights[name][0], 3), heights[name][1]))


def find_parts(asset: Asset, word: str, position: str | None) -> list[str]:
    """Parts called `word` (`drawer`, `door`, `board`) at a position, from top to bottom; raises `PartMissing`."""
    like = [name for name in part_names(asset) if name.split("_")[0] in KINDS.get(word, (word,))]
    if position is None:
        found = like
    elif not position.isdigit() and (named := [name for name in like if position in name.split("_")[1:]]):
        found = named
    elif position in ("left", "right"):
        found = []
    else:
        place = {"top": 0, "bottom": len(like) - 1, "last": len(like) - 1, "middle": len(like) // 2}.get(position)
        index = int(position) - 1 if place is None else place
        found = like[index : index + 1]
    if not found:
        where = f"{position} " if position else ""
        title = category(asset.spec.category).names["en"][0]
        raise PartMissing(f"the {title} has no {where}{word}; it has {', '.join(part_names(asset)) or 'no parts'}")
    return found


def with_part(spec: AssetSpec, word: str, position: str | None, *, most: int = 1) -> dict[str, ParamValue]:
    """Parameters to add so that a thing has the part: the smallest change of one of its counts; none when it has it already.

    A part told by its number fixes the count: were there more, another would be the second.

    Raises:
        PartMissing: no count of the category gives it.
    """
    wanted = max(most, NEEDED.get(position or "", 1))
    if _has(spec, word, position, wanted):
        return _counts(spec) if position is not None and position.isdigit() else {}
    for name, param in category(spec.category).params.items():
        default = param.default
        if isinstance(default, bool) or not isinstance(default, int) or param.low is None or param.high is None:
            continue
        counts = range(int(param.low), int(param.high) + 1)
        for count in sorted(counts, key=lambda c: (abs(c - default), c)):
            if _has(spec.model_copy(update={"params": {**spec.params, name: count}}), word, position, wanted):
                return {name: count}
    if position is not None and most == 1:  # the only one there is, is the top one too
        find_parts(build(spec), word, position)
        return {}
    raise PartMissing(f"no {category(spec.category).names['en'][0]} has {wanted} {word}s")


def _counts(spec: AssetSpec) -> dict[str, ParamValue]:
    """The counts of a thing's parts as they are."""
    params = category(spec.category).params
    return {
        name: spec.params.get(name, param.default)
        for name, param in params.items()
        if isinstance(param.default, int) and not isinstance(param.default, bool)
    }


def default_part(asset: Asset) -> str | None:
    """The joint meant when the whole is opened or closed: its door, else its first drawer."""
    joints = [name for name in part_names(asset) if name in asset.joints]
    doors = [name for name in joints if name.startswith("door")]
    return next(iter(doors or joints), None)


def default_cavity(asset: Asset) -> str | None:
    """The cavity meant when something goes into the whole; None: whichever, the thing has one way in."""
    ways = {cavity.joint for cavity in asset.affordances.cavities}
    if len(ways) < 2:
        return None
    names = {cavity.joint: cavity.name for cavity in reversed(asset.affordances.cavities)}
    return names.get(default_part(asset)) or asset.affordances.cavities[0].name


def _has(spec: AssetSpec, word: str, position: str | None, wanted: int) -> bool:
    return _has_cached(spec.to_json(), word, position, wanted)


@lru_cache(maxsize=1024)
def _has_cached(spec_json: str, word: str, position: str | None, wanted: int) -> bool:
    try:
        asset = build(AssetSpec.from_json(spec_json))
        return len(find_parts(asset, word, None)) >= wanted and bool(find_parts(asset, word, position))
    except (PartMissing, InvalidAsset):
        return False


def _rank(pose: Pose) -> tuple[float, float]:
    return -pose.position[2], pose.position[1]


def _offset(asset: Asset, body: str) -> NDArray[np.float64]:
    """A body's origin (3,) in the root frame [m], joints closed and bodies not turned."""
    offset = np.zeros(3)
    at = asset.mjspec.body(body)
    while at is not None and at.name != "world":
        offset = offset + np.asarray(at.pos)
        at = at.parent
    return offset
