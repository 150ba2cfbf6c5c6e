"""Repairs that a model proposes: the shape of its answer for a case, and the typed edits made of it."""

from __future__ import annotations

import functools
import operator
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, create_model

from embodiedsmith.forge import asked, edits
from embodiedsmith.forge.agents.agent import Case, Repair
from embodiedsmith.forge.agents.llm.catalogue import params_of
from embodiedsmith.forge.agents.llm.schema import (
    Answered,
    CategoryName,
    ColorName,
    Id,
    Line,
    MaterialName,
    NumberName,
    Reference,
    RobotName,
)
from embodiedsmith.forge.agents.llm.text import clean
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import (
    AddItem,
    AssetSpec,
    ChangeArgument,
    ChangeEmbodiment,
    ChangeSupport,
    Edit,
    EditKind,
    Item,
    MoveBase,
    MoveItem,
    Pose,
    RemoveItem,
    Rephrase,
    Resize,
    Scenario,
    SetJoint,
    SetTolerance,
    SplitGoal,
    SwapAsset,
    TurnItem,
    Unblock,
)
from embodiedsmith.spec.scene import Size

MOST_REPAIRS = 4
MOST_EDITS = 4

Coordinate = Annotated[float, Field(ge=-10.0, le=10.0)]
Angle = Annotated[float, Field(ge=-6.3, le=6.3)]


class Place(Answered):
    """Where, in the support's frame [m], and turned by how much about its normal [rad]."""

    x: Coordinate
    y: Coordinate
    yaw: Angle


class Looks(Answered):
    """What to build."""

    category: CategoryName
    color: ColorName | None
    material: MaterialName | None
    size: Size
    parts: int | None = Field(ge=1, le=5)


class Proposed(Answered):
    """One edit as a model writes it."""

    kind: str

    def edit(self, scenario: Scenario) -> Edit:
        """The edit it means for a scenario; raises ValueError when it means none."""
        raise NotImplementedError(f"{type(self).__name__} is not an edit")


class _Move(Proposed):
    kind: Literal["move"]
    item: Id
    place: Place | None

    def edit(self, scenario: Scenario) -> Edit:
        return MoveItem(item=self.item, pose=_pose(self.place))


class _Turn(Proposed):
    kind: Literal["turn"]
    item: Id
    yaw: Angle

    def edit(self, scenario: Scenario) -> Edit:
        return TurnItem(item=self.item, yaw=self.yaw)


class _Unblock(Proposed):
    kind: Literal["unblock"]
    item: Id
    blocked: Reference

    def edit(self, scenario: Scenario) -> Edit:
        return Unblock(item=self.item, blocked=self.blocked)


class _SwapAsset(Proposed):
    kind: Literal["swap_asset"]
    item: Id
    looks: Looks

    def edit(self, scenario: Scenario) -> Edit:
        return SwapAsset(item=self.item, asset=_spec(self.looks))


class _Resize(Proposed):
    kind: Literal["resize"]
    item: Id
    size: Size

    def edit(self, scenario: Scenario) -> Edit:
        return Resize(item=self.item, size=self.size)


class _Add(Proposed):
    kind: Literal["add"]
    item: Id
    looks: Looks
    parent: Id

    def edit(self, scenario: Scenario) -> Edit:
        return AddItem(item=Item(id=self.item, asset=_spec(self.looks), parent=self.parent))


class _Remove(Proposed):
    kind: Literal["remove"]
    item: Id

    def edit(self, scenario: Scenario) -> Edit:
        return RemoveItem(item=self.item)


class _ChangeSupport(Proposed):
    kind: Literal["change_support"]
    item: Id
    parent: Id
    relation: Literal["on", "inside"]
    part: Id | None

    def edit(self, scenario: Scenario) -> Edit:
        return ChangeSupport(item=self.item, parent=self.parent, relation=self.relation, support=self.part)


class _SetJoint(Proposed):
    kind: Literal["set_joint"]
    item: Id
    joint: Id
    fraction: float = Field(ge=0.0, le=1.0)

    def edit(self, scenario: Scenario) -> Edit:
        return SetJoint(item=self.item, joint=self.joint, fraction=self.fraction)


class _MoveBase(Proposed):
    kind: Literal["move_base"]
    place: Place | None

    def edit(self, scenario: Scenario) -> Edit:
        base = scenario.embodiment.base
        if self.place is None or base is None:
            return MoveBase()
        return MoveBase(pose=Pose.planar(self.place.x, self.place.y, base.position[2], self.place.yaw))


class _ChangeEmbodiment(Proposed):
    kind: Literal["change_embodiment"]
    name: RobotName

    def edit(self, scenario: Scenario) -> Edit:
        return ChangeEmbodiment(name=self.name)


class _ChangeArgument(Proposed):
    kind: Literal["change_argument"]
    predicate: int = Field(ge=0, le=99)
    argument: int = Field(ge=0, le=2)
    value: Reference

    def edit(self, scenario: Scenario) -> Edit:
        return ChangeArgument(predicate=self.predicate, argument=self.argument, value=self.value)


class _SplitGoal(Proposed):
    kind: Literal["split_goal"]
    first: tuple[Annotated[int, Field(ge=0, le=99)], ...] = Field(min_length=1, max_length=12)

    def edit(self, scenario: Scenario) -> Edit:
        return SplitGoal(first=self.first)


class _SetTolerance(Proposed):
    kind: Literal["set_tolerance"]
    predicate: int = Field(ge=0, le=99)
    name: NumberName
    value: float = Field(ge=-100.0, le=100.0)

    def edit(self, scenario: Scenario) -> Edit:
        return SetTolerance(predicate=self.predicate, name=self.name, value=self.value)


class _Rephrase(Proposed):
    kind: Literal["rephrase"]
    language: Literal["en", "zh"]
    text: Annotated[str, Field(min_length=1, max_length=400)]

    def edit(self, scenario: Scenario) -> Edit:
        return Rephrase(language=self.language, text=clean(self.text, 400) or "?")


_KINDS: dict[EditKind, type[Proposed]] = {
    "move": _Move, "turn": _Turn, "unblock": _Unblock, "swap_asset": _SwapAsset, "resize": _Resize, "add": _Add,
    "remove": _Remove, "change_support": _ChangeSupport,
    "set_joint": _SetJoint, "move_base": _MoveBase, "change_embodiment": _ChangeEmbodiment,
    "change_argument": _ChangeArgument, "split_goal": _SplitGoal, "set_tolerance": _SetTolerance, "rephrase": _Rephrase,
}  # fmt: skip


class ProposedRepair(Answered):
    """Edits that belong together."""

    finding: int = Field(ge=0, le=99)
    """Which finding it is meant for, by its number."""
    why: Line
    edits: tuple[Proposed, ...]


class Repairs(Answered):
    """What a model would try, the likeliest first."""

    repairs: tuple[ProposedRepair, ...]


@functools.cache
def answer_type(allowed: frozenset[EditKind]) -> type[Repairs]:
    """The shape of an answer in which only these kinds of edit can be said; at least one must be allowed."""
    kinds: Any = functools.reduce(operator.or_, [_KINDS[kind] for kind in _KINDS if kind in allowed])
    one = kinds if len(allowed) == 1 else Annotated[kinds, Field(discriminator="kind")]
    edits_type: Any = tuple.__class_getitem__((one, ...))
    repair = create_model(
        "ProposedRepair", __base__=ProposedRepair, edits=(edits_type, Field(min_length=1, max_length=MOST_EDITS))
    )
    repairs_type: Any = tuple.__class_getitem__((repair, ...))
    return create_model("Repairs", __base__=Repairs, repairs=(repairs_type, Field(max_length=MOST_REPAIRS)))


def faults(answer: Repairs, case: Case) -> list[str]:
    """Every edit that cannot be made of this case's scenario, or breaks what the user asked for, and why."""
    found = []
    before = set(asked.faults(case.asked, case.scenario))
    for number, proposed in enumerate(answer.repairs):
        where = f"repair {number}"
        if proposed.finding >= len(case.findings):
            found.append(f"{where}: there is no finding {proposed.finding}; there are {len(case.findings)}, from 0")
        try:
            after = edits.replay(case.scenario, (one.edit(case.scenario) for one in proposed.edits))
        except (SmithError, ValidationError) as error:
            found.append(f"{where}: {clean(str(error), 400)}")
            continue
        broken = [fault for fault in asked.faults(case.asked, after) if fault not in before]
        found += [f"{where}: it breaks what the user asked for: {fault}" for fault in broken]
    return found


def repairs_of(answer: Repairs, case: Case) -> list[Repair]:
    """Typed repairs of an answer without faults."""
    return [
        Repair(
            edits=tuple(one.edit(case.scenario) for one in proposed.edits),
            kind=next(kind for kind in _KINDS if kind == proposed.edits[0].kind),
            finding=case.findings[proposed.finding],
            why=clean(proposed.why) or "as the model proposes",
        )
        for proposed in answer.repairs
    ]


def _pose(place: Place | None) -> Pose | None:
    return None if place is None else Pose.planar(place.x, place.y, 0.0, place.yaw)


def _spec(looks: Looks) -> AssetSpec:
    return AssetSpec(
        category=looks.category, color=looks.color, material=looks.material, size=looks.size,
        params=params_of(looks.category, looks.parts),
    )  # fmt: skip
