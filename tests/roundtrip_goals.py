"""Goals drawn at random with scenes around them."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Several
from dataclasses import dataclass
from functools import cache

from hypothesis import assume
from hypothesis import strategies as st
from task_worlds import p

from embodiedsmith import assets
from embodiedsmith.forge.agents.parts import default_cavity
from embodiedsmith.spec import All, AssetSpec, Goal, Item, Predicate, SceneSpec, Sequence, split_reference
from embodiedsmith.tasks import goal_faults, predicate
from embodiedsmith.tasks.looks import Looks

BESIDE = ("near", "left_of", "right_of", "in_front_of", "behind")
PLACED = ("on", "inside", "between", *BESIDE)
HAND = ("lifted", "grasped")
SURFACES = ("table", "counter")
KNOWN = [name for name in sorted(assets.categories()) if assets.build(AssetSpec(category=name)).matter is None]
"""Of cloth, liquids and the like goals are drawn in tests of their own."""
FREE = [name for name in KNOWN if assets.category(name).role != "furniture"]
FURNITURE = [name for name in KNOWN if name not in FREE]


@dataclass(frozen=True)
class Drawn:
    """A goal and the scene around it."""

    goal: Goal
    scene: SceneSpec
    initial: tuple[Predicate, ...] = ()
    """Relations that hold at the start."""


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
        sized = spec.comes_in_sizes and not plain
        size = self.draw(st.sampled_from(("medium", "medium", "small", "large"))) if sized else "medium"
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
    - two things that nothing tells apart in different parts of a goal: "the first mug", once another was spoken of, is not read;
    - a thing told by its being on the table, to be put on the table and nowhere else before: there is nothing to do;
    - the very top of a shelf: on the shelf is on any of its boards;
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
    assume(not _circular(goal) and not _there_already(goal, Looks(scene, initial)))
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
    held = {q.args[0] for q in leaves(goal)}
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
            sizes = ("small", "medium", "large") if assets.category(item.asset.category).comes_in_sizes else ("medium",)
            size = draw(st.sampled_from(sizes))
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


def _there_already(goal: Goal, looks: Looks) -> bool:
    """Whether a thing is to be put only where the words that tell it from others say it is."""
    moves: dict[str, list[Predicate]] = {}
    for q in leaves(goal):
        if q.name in (*PLACED, *HAND):
            moves.setdefault(q.args[0], []).append(q)
    for item, (first, *later) in moves.items():
        carrier = looks.telling(item).carrier
        if first.name == "on" and not later and carrier is not None and carrier.parent == first.args[1]:
            return True
    return False


def _circular(goal: Goal) -> bool:
    """Whether something is to be put on or beside what is itself put on or beside it."""
    below: dict[str, set[str]] = {}
    for q in leaves(goal):
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


def leaves(goal: Goal) -> Iterator[Predicate]:
    """Every predicate of a goal without `not` and `any`."""
    if isinstance(goal, Predicate):
        yield goal
    elif isinstance(goal, All | Sequence):
        for part in goal.goals:
            yield from leaves(part)
    else:
        raise AssertionError(goal)
