"""Goals drawn at random with scenes around them, and whether two goals are the same up to the names of things."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from collections.abc import Sequence as Several
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from hypothesis import assume
from hypothesis import strategies as st
from task_worlds import p

from embodiedsmith import assets
from embodiedsmith.forge.agents.parts import default_cavity, default_part, find_parts, part_names
from embodiedsmith.spec import All, AssetSpec, Goal, Item, Predicate, SceneSpec, Sequence, TaskSpec, split_reference
from embodiedsmith.tasks import goal_faults, predicate
from embodiedsmith.tasks.kind import cavities, surfaces
from embodiedsmith.tasks.looks import Looks

BESIDE = ("near", "left_of", "right_of", "in_front_of", "behind")
PLACED = ("on", "inside", "between", *BESIDE)
HAND = ("lifted", "grasped")
SURFACES = ("table", "counter")
KNOWN = sorted(assets.categories())
FREE = [name for name in KNOWN if assets.category(name).role != "furniture"]
FURNITURE = [name for name in KNOWN if name not in FREE]


@dataclass(frozen=True)
class Drawn:
    """A goal and the scene around it."""

    goal: Goal
    scene: SceneSpec
    initial: tuple[Predicate, ...] = ()
    """Relations that hold at the start."""


# ---------------------------------------------------------------------- drawing


VARIANTS: dict[str, tuple[dict[str, int], ...]] = {
    "drawer_unit": ({}, {"drawers": 3}, {"drawers": 4}),
    "shelf": ({}, {"boards": 3}, {"boards": 4}),
}
"""Furniture that comes with more drawers or boards."""


@cache
def places(name: str, holder_json: str) -> list[tuple[str, str | None]]:
    """Where a thing of a category can be put on or in another: predicate and part.

    The agent names the cavity where a thing has several ways in, so the whole is not drawn there. The top of a thing is called by
    the thing's name, so it is drawn as the whole.
    """
    holder = AssetSpec.from_json(holder_json)
    asset = assets.build(holder)
    parts: list[tuple[str, str | None]] = [("on", None)] if asset.affordances.supports else []
    parts += [("inside", None)] if asset.affordances.cavities and default_cavity(asset) is None else []
    parts += [("on", s.name) for s in asset.affordances.supports if s.name.startswith("board")]
    if default_cavity(asset) is not None or holder.category in ("fridge", "shelf"):
        parts += [("inside", c.name) for c in asset.affordances.cavities]
    things = {"x": assets.build(AssetSpec(category=name)), "y": asset}
    return [
        (relation, part)
        for relation, part in parts
        if holder.category != name and predicate(relation).faults(things, ("x", f"y.{part}" if part else "y"), {}) == []
    ]


@cache
def holders(name: str, kind: str) -> list[str]:
    """Categories that a thing of a category can be put on, or in."""
    return [holder for holder in KNOWN if any(place[0] == kind for place in places(name, AssetSpec(category=holder).to_json()))]


JOINTED = [name for name in FURNITURE if assets.build(AssetSpec(category=name)).joints]


class _Drawing:
    """Draws one goal; `items` grows with what it speaks of."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.items: dict[str, Item] = {}
        self.busy: set[str] = set()
        """Things that have a place in the goal, or must stay."""
        self.joints: set[str] = set()

    def thing(self, names: Several[str], *, unlike: Several[str] = ()) -> str:
        """A thing of one of the categories: one spoken of before, or a new one."""
        known = [i for i, item in self.items.items() if item.asset.category in names and i not in unlike and i not in self.busy]
        if known and self.draw(st.integers(0, 2)) == 0:
            return self.draw(st.sampled_from(known))
        category = self.draw(st.sampled_from(names))
        if category in FURNITURE and category in self.items:
            return category
        spec = assets.category(category)
        same = [item for item in self.items.values() if item.asset.category == category]
        colors = [c for c in spec.colors if c not in {i.asset.color or spec.colors[0] for i in same}]
        assume(colors)
        plain = category in FURNITURE or self.draw(st.booleans())
        color = self.draw(st.sampled_from(colors)) if same or not plain else None
        size = "medium" if plain else self.draw(st.sampled_from(("medium", "medium", "small", "large")))
        params = self.draw(st.sampled_from(VARIANTS.get(category, ({},))))
        name = category if category not in self.items else f"{category}_{len(self.items)}"
        self.items[name] = Item(
            id=name, asset=AssetSpec(category=category, color=color, size=size, params=dict(params)), fixed=category in FURNITURE
        )
        return name

    def free(self, *unlike: str) -> str:
        """A movable thing without a place yet; from now on it has one."""
        name = self.thing(FREE, unlike=unlike)
        assume(name not in unlike)
        return name

    def predicate(self, kinds: Several[str]) -> Predicate:
        """One predicate that can be joined with those drawn before."""
        kind = self.draw(st.sampled_from(kinds))
        if kind in ("open", "closed"):
            owner = self.thing(JOINTED)
            joint = self.draw(st.sampled_from(sorted(assets.build(self.items[owner].asset).joints)))
            assume(f"{owner}.{joint}" not in self.joints)
            self.joints.add(f"{owner}.{joint}")
            return p(kind, f"{owner}.{joint}")
        item = self.free()
        self.busy.add(item)
        if kind in HAND:
            return p(kind, item)
        if kind in ("on", "inside"):
            return self.put(item, kind)
        others = [n for n in (*FREE, *FURNITURE) if n not in SURFACES]
        first = self.thing(others, unlike=(item,))
        if kind != "between":
            return p(kind, item, first)
        second = self.thing(others, unlike=(item, first))
        assume(first != second)
        return p(kind, item, first, second)

    def put(self, item: str, kind: str) -> Predicate:
        """A thing put somewhere on or in something."""
        category = self.items[item].asset.category
        fitting = holders(category, kind)
        assume(fitting)
        at = self.thing(fitting, unlike=(item,))
        parts = [part for relation, part in places(category, self.items[at].asset.to_json()) if relation == kind]
        assume(parts)
        part = self.draw(st.sampled_from(parts))
        return p(kind, item, f"{at}.{part}" if part else at)


DEEDS = ("on", "on", "inside", "inside", "near", "left_of", "right_of", "in_front_of", "behind", "between", "touching")
STATES = ("open", "closed")


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    """A goal of 1 to 4 predicates that the language can say, and a scene with things like those it speaks of.

    Not drawn, because no words of the language can mean it:

    - `at` (coordinates) and `any` ("or": a choice is refused);
    - one thing with two places at once, held and placed, or a joint both open and closed: the last said counts;
    - two things held at once, or one both lifted and grasped: there is one hand, and what is said later lets go;
    - `upright` by itself: everything stands at the start. It is drawn for what is held;
    - predicates with numbers other than their defaults;
    - what fits only with one of the sizes that a comparison leaves open: "the smaller cup" is drawn small.
    """
    drawing = _Drawing(draw)
    shape = draw(st.sampled_from(("one", "all", "all", "sequence")))
    if shape == "one":
        goal: Goal = drawing.predicate((*DEEDS, *STATES, *HAND))
    elif shape == "all":
        goal = _joined(drawing, draw(st.integers(2, 4)))
    else:
        goal = _sequence(drawing, draw(st.integers(2, 3)))
    if draw(st.integers(0, 3)) == 0:
        goal = _still(drawing, goal)
    scene, initial = _scene(drawing)
    for sized in (scene, _at_its_extreme(scene, initial)):
        assume(goal_faults(goal, {item.id: assets.build(item.asset) for item in sized.items}) == [])
    assume(not _circular(goal))
    return Drawn(goal, scene, tuple(initial))


def _joined(drawing: _Drawing, count: int) -> Goal:
    goals = [drawing.predicate((*DEEDS, *STATES)) for _ in range(count - 1)]
    end = drawing.draw(st.sampled_from(("deed", "alike", "held")))
    if end == "held":
        held = drawing.predicate(HAND)
        goals.append(held)
        if held.name == "lifted" and drawing.draw(st.booleans()):
            goals.append(p("upright", held.args[0]))
    elif end == "alike" and goals[0].name in PLACED:  # the like of it goes to the same place
        first = drawing.items[goals[0].args[0]]
        twin = first.model_copy(update={"id": f"{first.id}_too"})
        assume(twin.id not in drawing.items)
        drawing.items[twin.id] = twin
        drawing.busy.add(twin.id)
        goals.insert(1, goals[0].model_copy(update={"args": (twin.id, *goals[0].args[1:])}))
    else:
        goals.append(drawing.predicate((*DEEDS, *STATES)))
    return All(goals=tuple(goals[:4]))


def _sequence(drawing: _Drawing, count: int) -> Goal:
    stages: list[Goal] = []
    before: Predicate | None = None
    for _ in range(count):
        again = before is not None and drawing.draw(st.booleans())
        before = _goes_on(drawing, before) if again and before else drawing.predicate((*DEEDS, *STATES, *HAND))
        stages.append(before)
    return Sequence(goals=tuple(stages))


def _goes_on(drawing: _Drawing, before: Predicate) -> Predicate:
    """What undoes the step before, or moves the same thing on."""
    if before.name in STATES:
        return p("closed" if before.name == "open" else "open", *before.args)
    step = drawing.put(before.args[0], drawing.draw(st.sampled_from(("on", "inside"))))
    assume(step != before)
    return step


def _still(drawing: _Drawing, goal: Goal) -> Goal:
    held = {q.args[0] for q in _leaves(goal)}
    still = [i for i in drawing.items if i not in held and not drawing.items[i].fixed]
    if not still:
        still = [drawing.free()]
    name = drawing.draw(st.sampled_from(sorted(still)))
    goals = goal.goals if isinstance(goal, All) else (goal,)
    return All(goals=(*goals, p("unmoved", name)))


def _scene(drawing: _Drawing) -> tuple[SceneSpec, list[Predicate]]:
    """The things drawn on a table, and the likes of some: in another colour, size or place, beside them, or just alike."""
    draw = drawing.draw
    items = [drawing.items.get("table") or Item(id="table", asset=AssetSpec(category="table"), fixed=True)]
    initial: list[Predicate] = []
    extra: dict[str, Item] = {}
    for item in [i for i in drawing.items.values() if i.id != "table"]:
        items.append(item if item.asset.category == "counter" else item.model_copy(update={"parent": "table"}))
        if item.fixed or draw(st.integers(0, 2)):
            continue
        twin = items[-1].model_copy(update={"id": f"{item.id}_twin"})
        change = draw(st.sampled_from(("color", "size", "place", "beside", "row", "none")))
        if change == "color":
            color = draw(st.sampled_from(assets.category(item.asset.category).colors))
            twin = twin.model_copy(update={"asset": item.asset.model_copy(update={"color": color})})
        elif change == "size":
            size = draw(st.sampled_from(("small", "medium", "large")))
            twin = twin.model_copy(update={"asset": item.asset.model_copy(update={"size": size})})
        elif change in ("place", "beside"):
            carriers = [n for n in ("tray", "plate", "box", "basket") if n not in drawing.items and n != item.asset.category]
            other = Item(id=carriers[0], asset=AssetSpec(category=carriers[0]), parent="table")
            extra[other.id] = other
            if change == "place":
                moved = twin if draw(st.booleans()) else items.pop()
                inside = other.asset.category in ("box", "basket")
                placed = moved.model_copy(update={"parent": other.id, "relation": "inside" if inside else "on"})
                twin, items = (placed, items) if moved is twin else (twin, [*items, placed])
            else:
                initial.append(p(draw(st.sampled_from(BESIDE)), item.id, other.id))
        elif change == "row":
            initial.append(p(draw(st.sampled_from(("left_of", "right_of", "in_front_of", "behind"))), item.id, twin.id))
        items.append(twin)
    return SceneSpec(items=(*items, *extra.values())), initial


def _at_its_extreme(scene: SceneSpec, initial: list[Predicate]) -> SceneSpec:
    """The scene with what is told by a comparison as small, or as large, as it comes."""
    looks = Looks(scene, initial)
    items = []
    for item in scene.items:
        size = {"s": "small", "l": "large"}.get(looks.telling(item.id).size[:1], item.asset.size)
        items.append(Item.model_validate({**item.model_dump(), "asset": {**item.asset.model_dump(), "size": size}}))
    return scene.model_copy(update={"items": tuple(items)})


def _circular(goal: Goal) -> bool:
    """Whether something is to be put on or beside what is itself put on or beside it."""
    below: dict[str, set[str]] = {}
    for q in _leaves(goal):
        if q.name in (*PLACED, "touching"):
            below.setdefault(q.args[0], set()).update(split_reference(arg)[0] for arg in q.args[1:])
    for start in below:
        seen, todo = set(), [start]
        while todo:
            for other in below.get(todo.pop(), ()):
                if other == start:
                    return True
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
    return False


def _leaves(goal: Goal) -> Iterator[Predicate]:
    if isinstance(goal, Predicate):
        yield goal
    elif isinstance(goal, All | Sequence):
        for part in goal.goals:
            yield from _leaves(part)
    else:
        raise AssertionError(goal)


# ---------------------------------------------------------------------- the same goal


class Fact(NamedTuple):
    """A predicate as it can stand in a set."""

    name: str
    args: tuple[str, ...]
    params: tuple[tuple[str, float], ...]


def _facts(goal: Goal) -> Iterator[Fact]:
    for q in _leaves(goal):
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
