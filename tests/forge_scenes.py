"""Drafts (scenarios without places) that tests of the forge lay out and judge."""

from __future__ import annotations

from typing import Any

from embodiedsmith.spec import (
    All,
    AssetSpec,
    EmbodimentSpec,
    Goal,
    Item,
    Not,
    Pose,
    Predicate,
    Randomization,
    Scenario,
    SceneSpec,
    TaskSpec,
)

FURNITURE = {
    "table",
    "counter",
    "drawer_unit",
    "microwave",
    "shelf",
    "fridge",
    "base_cabinet",
    "wall_cabinet",
    "towel_rack",
    "stain",
}


def item(name: str, parent: str | None = None, **changes: Any) -> Item:
    """An item whose id is its category, perhaps with a number: "block_2"."""
    category = name.rstrip("0123456789").rstrip("_")
    asset = {k: changes.pop(k) for k in ("size", "color", "params") if k in changes}
    spec = AssetSpec(category=category, **asset)
    return Item(id=name, asset=spec, parent=parent, fixed=category in FURNITURE, **changes)


def says(name: str, *args: str, **params: float) -> Predicate:
    return Predicate(name=name, args=args, params=params)


def draft(
    items: list[Item],
    goal: Goal,
    *,
    robot: str = "panda",
    base: Pose | None = None,
    text: str | None = None,
    **random: Any,
) -> Scenario:
    return Scenario(
        scene=SceneSpec(items=tuple(items)),
        task=TaskSpec(goal=goal, instructions={} if text is None else {"en": text}),
        embodiment=EmbodimentSpec(name=robot, base=base),
        randomization=Randomization(**random),
    )


def _drafts() -> dict[str, Scenario]:
    counter, table = item("counter"), item("table")
    on_counter = {
        name: item(name, "counter") for name in ("drawer_unit", "microwave", "shelf", "mug", "bowl", "apple", "book", "cup")
    }
    c = on_counter
    apples = [item(f"apple_{k}", "table") for k in range(3)]
    return {
        "stack": draft(
            [table, item("block_1", "table"), item("block_2", "table"), item("mug", "table")], says("on", "block_1", "block_2")
        ),
        "drawer": draft(
            [counter, c["drawer_unit"], c["mug"], c["apple"]],
            All(goals=(says("inside", "mug", "drawer_unit.drawer_top"), says("closed", "drawer_unit.drawer_top"))),
        ),
        "microwave": draft(
            [counter, c["microwave"], c["bowl"], c["mug"]],
            All(goals=(says("inside", "bowl", "microwave"), says("closed", "microwave.door"))),
        ),
        "basket": draft(
            [table, item("basket", "table"), item("can", "table"), *apples],
            All(goals=tuple(says("inside", a.id, "basket") for a in apples)),
        ),
        "shelf": draft([counter, c["shelf"], c["book"], c["mug"]], says("on", "book", "shelf")),
        "plate": draft(
            [table, *(item(n, "table") for n in ("plate", "lemon", "knife", "spoon"))],
            All(goals=(says("on", "lemon", "plate"), says("near", "knife", "plate"))),
        ),
        "take_out": draft(
            [counter, c["drawer_unit"], item("apple", "drawer_unit", relation="inside", support="drawer_top"), c["mug"]],
            Not(goal=says("inside", "apple", "drawer_unit.drawer_top")),
        ),
        "wall": draft([counter, item("wall_cabinet", relation="attached"), c["cup"]], says("open", "wall_cabinet.door_left")),
        "fridge": draft([counter, item("fridge"), item("bottle", "counter")], says("inside", "bottle", "fridge")),
        "mobile": draft(
            [table, item("fridge"), item("bottle", "table"), item("mug", "table")],
            says("inside", "bottle", "fridge"),
            robot="panda_mobile",
        ),
    }


DRAFTS = _drafts()
