"""Whether two goals are the same up to the names of things, each goal in its own scene."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from roundtrip_goals import HAND, PLACED, STATES, Drawn, leaves

from embodiedsmith import assets
from embodiedsmith.forge.agents.parts import default_part, find_parts, part_names
from embodiedsmith.spec import All, Goal, Item, Predicate, SceneSpec, Sequence, TaskSpec, split_reference
from embodiedsmith.tasks.kind import cavities, surfaces
from embodiedsmith.tasks.looks import Looks


class Fact(NamedTuple):
    """A predicate as it can stand in a set."""

    name: str
    args: tuple[str, ...]
    params: tuple[tuple[str, float], ...]


def _facts(goal: Goal) -> Iterator[Fact]:
    for q in leaves(goal):
        yield Fact(q.name, q.args, tuple(sorted(q.params.items())))


def differences(said: Drawn, task: TaskSpec, scene: SceneSpec) -> str:
    """Why what was read is not the same goal up to the names of things; "" when it is."""
    one, two = _stages(said.goal), _stages(task.goal)
    if [len(stage) for stage in one] != [len(stage) for stage in two]:
        return f"{_show(one)} became {_show(two)}"
    mine, theirs = _things(one), _things(two)
    if len(mine) != len(theirs):
        return f"{_show(one)} became {_show(two)}: {len(mine)} things became {len(theirs)}"
    looks = Looks(said.scene, said.initial)
    choices = [[t for t in theirs if _fits(said, looks, m, t, task, scene)] for m in mine]
    for chosen in itertools.product(*choices):
        names = dict(zip(mine, chosen, strict=True))
        if len(set(chosen)) == len(chosen) and all(_equal(a, b, names, said.scene, scene) for a, b in zip(one, two, strict=True)):
            return ""
    unlike = [m for m, choice in zip(mine, choices, strict=True) if not choice]
    return f"{_show(one)} became {_show(two)}" + (f"; nothing is like {unlike}" if unlike else "")


def _stages(goal: Goal) -> list[frozenset[Fact]]:
    """Stages with what goes on holding: what a later stage does not undo holds on, which is what words about order mean.

    What must not move must not at any time, so it stands in every stage.
    """
    still = frozenset(q for q in _facts(goal) if q.name == "unmoved")
    steps = [g for g in (goal.goals if isinstance(goal, All) else (goal,)) if isinstance(g, Sequence)]
    loose = frozenset(
        q for g in (goal.goals if isinstance(goal, All) else (goal,)) if not isinstance(g, Sequence) for q in _facts(g)
    )
    listed = [frozenset(_facts(stage)) for step in steps for stage in step.goals] or [frozenset()]
    listed[-1] |= loose
    held: list[frozenset[Fact]] = []
    for stage in listed:
        kept = {q for q in (held[-1] if held else ()) if not _undone(q, stage)}
        now = frozenset(q for q in stage if q.name != "unmoved") | kept
        if not held or now != held[-1]:
            held.append(now)
    return [stage | still for stage in held]


def _undone(one: Fact, stage: frozenset[Fact]) -> bool:
    """Whether making a stage true undoes a predicate: one place for a thing, one state for a joint, one thing in the hand."""
    if one.name in HAND:
        return True
    for other in stage:
        same = one.args[0] == other.args[0]
        if one.name in PLACED and same and other.name in (*PLACED, *HAND):
            return True
        if one.name in STATES and same and other.name in STATES:
            return True
    return False


def _things(stages: list[frozenset[Fact]]) -> list[str]:
    return list(dict.fromkeys(split_reference(arg)[0] for stage in stages for q in sorted(stage, key=str) for arg in q.args))


def _equal(one: frozenset[Fact], two: frozenset[Fact], names: dict[str, str], a: SceneSpec, b: SceneSpec) -> bool:
    left = set(two)
    for q in one:
        match = next((r for r in left if _same(q, r, names, a, b)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _same(q: Fact, r: Fact, names: dict[str, str], a: SceneSpec, b: SceneSpec) -> bool:
    if (q.name, q.params, len(q.args)) != (r.name, r.params, len(r.args)):
        return False
    args = [*zip(q.args, r.args, strict=True)]
    if all(_same_part(q.name, x, y, names, a, b) for x, y in args):
        return True
    swapped = [args[0], *zip(q.args[1:], reversed(r.args[1:]), strict=True)]
    return q.name == "between" and all(_same_part(q.name, x, y, names, a, b) for x, y in swapped)


def _same_part(kind: str, x: str, y: str, names: dict[str, str], a: SceneSpec, b: SceneSpec) -> bool:
    """Whether two references mean the same part: the same name, or the same place from the top."""
    (item, part), (other, that) = split_reference(x), split_reference(y)
    if names[item] != other:
        return False
    here, there = assets.build(a.item(item).asset), assets.build(b.item(other).asset)
    return bool(_parts(kind, here, part) & _parts(kind, there, that))


def _parts(kind: str, asset: assets.Asset, part: str | None) -> set[object]:
    """Names for a part: as it is called, and where it is among its like from the top."""
    match kind:
        case "on":
            whole = surfaces(asset, part) == surfaces(asset, None)
        case "inside":
            whole = cavities(asset, part) == cavities(asset, None)
        case "open" | "closed":
            part, whole = part or default_part(asset), False
        case _:
            whole = part is None
    if part is None or whole:
        return {None}
    like = find_parts(asset, part.split("_")[0], None) if part in part_names(asset) else []
    return {part, *([(part.split("_")[0], like.index(part))] if part in like else [])}


def _fits(said: Drawn, looks: Looks, mine: str, theirs: str, task: TaskSpec, scene: SceneSpec) -> bool:
    """Whether a thing read is all that was said of a thing."""
    telling, other = looks.telling(mine), scene.item(theirs)
    seen = Looks(scene).of(theirs)
    if seen.category != telling.category or (telling.color and seen.color != telling.color):
        return False
    if telling.size in ("small", "medium", "large") and other.asset.size != telling.size:
        return False
    peers = [i for i in scene.items if i.id != theirs and i.asset.category == telling.category]
    if telling.size.startswith(("larg", "small")) and telling.size not in ("large", "small"):
        volume = _volume(other)
        peers = [i for i in peers if not telling.color or Looks(scene).of(i.id).color == telling.color]
        larger = telling.size.startswith("larg")
        if not peers or not all(_volume(i) < volume if larger else _volume(i) > volume for i in peers):
            return False
    moved = {fact.args[0] for fact in _facts(said.goal)}
    if set(looks.like(telling)) <= moved:  # "the two mugs", wherever each of them is
        return not telling.rivals or bool(peers)
    if telling.carrier is not None and telling.carrier.parent is not None:
        if other.parent is None or other.relation != telling.carrier.relation:
            return False
        if scene.item(other.parent).asset.category != said.scene.item(telling.carrier.parent).asset.category:
            return False
    if telling.beside is not None and not any(
        _alike(telling.beside, r, said.scene, scene) for r in task.initial if r.args[0] == theirs
    ):
        return False
    if telling.row and not _ends(telling.row, theirs, task):
        return False
    return not telling.rivals or bool(peers)


def _alike(one: Predicate, two: Predicate, a: SceneSpec, b: SceneSpec) -> bool:
    """Whether two relations are the same, to things of the same kind."""
    kinds = [a.item(other).asset.category for other in one.args[1:]]
    return one.name == two.name and kinds == [b.item(other).asset.category for other in two.args[1:]]


def _ends(end: str, item: str, task: TaskSpec) -> bool:
    """Whether an item stands at that end of a row at the start."""
    name, inverse = {
        "leftmost": ("left_of", "right_of"), "rightmost": ("right_of", "left_of"),
        "nearest": ("in_front_of", "behind"), "farthest": ("behind", "in_front_of"),
    }[end]  # fmt: skip
    pairs = [q.args for q in task.initial if q.name == name] + [q.args[::-1] for q in task.initial if q.name == inverse]
    return item in {one for one, _ in pairs} and item not in {other for _, other in pairs}


def _volume(item: Item) -> float:
    return float(assets.build(item.asset).size.prod())


def _show(stages: list[frozenset[Fact]]) -> str:
    return " > ".join(" & ".join(sorted(f"{q.name}({', '.join(q.args)})" for q in stage)) for stage in stages)
