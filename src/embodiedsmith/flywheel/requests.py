"""What the flywheel asks the forge for: scenarios like those that the policy fails at, and things that nobody ever took hold of.

A request is the same brief drawn again, or a variant: edits of a scenario that exists. Which edits depends on how the policy
fails: what is missed or slips comes in another size and elsewhere, what is dropped beside its place gets another place, what is
hit moves, a door that stays shut stands elsewhere. A thing that was there and never grasped takes the place of what a goal
handles; cells in which things begin in the test and never began in training get them. Carried out, a variant goes before all
critics like any other scenario, and is certified or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from embodiedsmith.assets import build
from embodiedsmith.evaluate.coverage import CELL, Cell, Coverage
from embodiedsmith.flywheel.certifying import Made, certified
from embodiedsmith.flywheel.clutter import clutter
from embodiedsmith.flywheel.curriculum import FailureEmphasis
from embodiedsmith.flywheel.failures import FailureClass
from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.forge.critics import critics
from embodiedsmith.forge.edits import EditError, replay
from embodiedsmith.forge.layout import fit, needs
from embodiedsmith.forge.state import Judge
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import (
    AddItem,
    ChangeArgument,
    Edit,
    Item,
    MoveItem,
    Noun,
    Pose,
    Scenario,
    SwapAsset,
    predicates,
    split_reference,
)
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import build_assets, palm_pose, root_poses

PART = "requests"
SIZES = (0.8, 1.25)
"""Smallest and largest factor by which a thing is resized."""
LEAST_CHANGE = 0.05
"""Part by which a resized thing differs at least."""
Kind = Literal["again", "variant"]


class RequestConfig(Noun):
    """How a round's requests are divided."""

    again: float = Field(default=0.5, ge=0.0, le=1.0)
    """Part of those for failures that is the same brief drawn again: another layout, other things lying about."""
    gaps: float = Field(default=0.25, ge=0.0, le=1.0)
    """Part of all requests that is for gaps in the coverage, when there are any."""


class Request(Noun):
    """One scenario wanted of the forge."""

    kind: Kind
    scenario: str
    """Id of the scenario that is to be varied, or whose brief is to be drawn again."""
    edits: tuple[Edit, ...] = ()
    """Of a variant."""
    reason: str
    failure: FailureClass | None = None
    """The class that it is for; None: for a gap in the coverage."""


def plan(
    round: int,
    scenarios: Mapping[str, Scenario],
    emphasis: FailureEmphasis,
    count: int,
    rng: np.random.Generator,
    *,
    seen: Coverage | None = None,
    wanted: Coverage | None = None,
    config: RequestConfig | None = None,
    task: str = "",
) -> tuple[tuple[Request, ...], tuple[Decision, ...]]:
    """Up to `count` requests for what fails and what is missing; none when nothing does and nothing is.

    Args:
        round: Its number.
        scenarios: Those of the task, as forged, by id.
        emphasis: How often each of them fails at what.
        count: Requests at most.
        rng: Of the choices.
        seen: What training episodes covered.
        wanted: What the test covers.
        config: How they are divided.
        task: Named in the decisions.
    """
    config = config or RequestConfig()
    names = sorted(scenarios)
    gaps = [] if seen is None else _gaps(scenarios, seen, wanted)
    for_gaps = min(len(gaps), round_up(config.gaps * count))
    requests = [gaps[k] for k in sorted(rng.permutation(len(gaps))[:for_gaps].tolist())]
    failing = [
        (name, kind) for name in names for kind in emphasis.dominating() if emphasis.failures.get(name, {}).get(kind, 0) > 0
    ]
    if failing:
        weights = np.array([emphasis.failures[name][kind] for name, kind in failing], dtype=np.float64)
        chosen = rng.choice(len(failing), size=count - len(requests), p=weights / weights.sum())
        for k in chosen.tolist():
            name, kind = failing[k]
            requests.append(_for_failure(scenarios[name], name, kind, rng, again=bool(rng.random() < config.again)))
    unique = tuple({request.content_id(): request for request in requests if request.kind == "variant"}.values())
    requests = [*unique, *(request for request in requests if request.kind == "again")]
    decisions = tuple(
        Decision(round=round, part=PART, what="request", after=f"{r.kind} of {r.scenario}", reason=r.reason, task=task)
        for r in requests
    )
    return tuple(requests), decisions


def round_up(value: float) -> int:
    """The least whole number that is not below."""
    return int(np.ceil(value - 1e-9))


def carry_out(request: Request, scenario: Scenario, seed: int) -> Made | None:
    """The variant that a request describes, laid out and certified; None when it cannot be, or the critics refuse it.

    Args:
        request: A variant of `scenario`.
        scenario: As forged.
        seed: Run seed: the layout draws from it and the request.
    """
    try:
        edited = replay(scenario, request.edits)
    except EditError:
        return None
    judge = Judge(critics(), seed=seed, anticipate=True)
    return certified(judge, edited, generator(seed, "request", request.content_id()))


# ---------------------------------------------------------------------- failures


def _for_failure(scenario: Scenario, name: str, kind: str, rng: np.random.Generator, *, again: bool) -> Request:
    makers = _EDITS.get(kind, ())
    edits = () if again else tuple(edit for make in makers for edit in make(scenario, rng))
    if not edits:
        why = f"it fails by {kind}: the same brief drawn again"
        return Request(kind="again", scenario=name, reason=why, failure=kind)
    done = ", ".join(f"{edit.kind.replace('_', ' ')} {_about(edit)}" for edit in edits)
    return Request(kind="variant", scenario=name, edits=edits, reason=f"it fails by {kind}: {done}", failure=kind)


def _about(edit: Edit) -> str:
    """The item that an edit is about."""
    match edit:
        case AddItem():
            return edit.item.id
        case MoveItem() | SwapAsset():
            return edit.item
    return ""


Maker = Callable[[Scenario, np.random.Generator], tuple[Edit, ...]]


def _handled(scenario: Scenario) -> list[Item]:
    wanted = needs.read(scenario, build_assets(scenario.scene))
    return [item for item in scenario.scene.items if item.id in wanted.handled]


def _places(scenario: Scenario) -> list[Item]:
    """What things are put on, in or beside, but for the surface that carries everything."""
    wanted = needs.read(scenario, build_assets(scenario.scene))
    carriers = {item.parent for item in scenario.scene.items}
    names = {name for target in wanted.targets for name in target.others} | {part.item for part in wanted.parts}
    return [item for item in scenario.scene.items if item.id in names and (item.parent is not None or item.id not in carriers)]


def _resize_handled(scenario: Scenario, rng: np.random.Generator) -> tuple[Edit, ...]:
    return _resized(_handled(scenario), rng)


def _move_handled(scenario: Scenario, rng: np.random.Generator) -> tuple[Edit, ...]:
    return tuple(MoveItem(item=item.id) for item in _one(_handled(scenario), rng))


def _resize_place(scenario: Scenario, rng: np.random.Generator) -> tuple[Edit, ...]:
    return _resized([item for item in _places(scenario) if not item.fixed], rng)


def _move_place(scenario: Scenario, rng: np.random.Generator) -> tuple[Edit, ...]:
    return tuple(MoveItem(item=item.id) for item in _one(_places(scenario), rng))


def _move_others(scenario: Scenario, rng: np.random.Generator) -> tuple[Edit, ...]:
    """Everything free that the task leaves alone, elsewhere."""
    busy = {item.id for item in (*_handled(scenario), *_places(scenario))}
    return tuple(MoveItem(item=item.id) for item in scenario.scene.items if not item.fixed and item.id not in busy)


def _add_others(scenario: Scenario, rng: np.random.Generator) -> tuple[Edit, ...]:
    """One or two more things that the task leaves alone."""
    return clutter(scenario, int(rng.integers(1, 3)), rng)


def _one(items: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    return [items[int(rng.integers(len(items)))]] if items else []


def _resized(items: Sequence[Item], rng: np.random.Generator) -> tuple[Edit, ...]:
    """One of the things by a drawn factor, where nobody fixed its size and it is clearly another then."""
    for item in _one(items, rng):
        factor = float(rng.uniform(*SIZES))
        spec = fit.scaled(item.asset, factor if abs(factor - 1.0) > LEAST_CHANGE else SIZES[1])
        if spec != item.asset:
            return (SwapAsset(item=item.id, asset=spec),)
    return ()


_EDITS: dict[str, tuple[Maker, ...]] = {
    "missed_grasp": (_resize_handled, _move_handled),
    "slip": (_resize_handled,),
    "wrong_object": (_move_handled, _add_others),
    "collision": (_move_others, _move_handled, _add_others),
    "misplaced": (_resize_place, _move_place),
    "not_released": (_move_place,),
    "not_opened": (_move_place,),
    "not_closed": (_move_place,),
    "timeout": (_move_handled, _move_place),
}
"""What is changed for each class of failure. What demonstrators and worlds are at fault with is drawn again."""


# ---------------------------------------------------------------------- coverage


def _gaps(scenarios: Mapping[str, Scenario], seen: Coverage, wanted: Coverage | None) -> list[Request]:
    """Variants in which what was never grasped is handled, and in which things begin where they never did."""
    found: list[Request] = []
    for name in sorted(scenarios):
        scenario = scenarios[name]
        found += _ungrasped(scenario, name, set(seen.never_grasped))
        for category, cells in ({} if wanted is None else seen.missing(wanted)).items():
            found += _unvisited(scenario, name, category, cells)
    return found


def _ungrasped(scenario: Scenario, name: str, never: set[str]) -> list[Request]:
    """The goal with its first argument replaced by each thing lying about of a kind that was never grasped."""
    handled = {item.id for item in _handled(scenario)}
    named = {split_reference(a)[0] for p in predicates(scenario.task.goal) for a in p.args}
    found = []
    for item in scenario.scene.items:
        if item.fixed or item.id in named or item.asset.category not in never or not build(item.asset).affordances.grasps:
            continue
        first = next((p.args[0] for p in predicates(scenario.task.goal) if p.args and p.args[0] in handled), None)
        edits = tuple(
            ChangeArgument(predicate=k, argument=a, value=item.id)
            for k, p in enumerate(predicates(scenario.task.goal))
            for a, value in enumerate(p.args)
            if value == first
        )
        if edits:
            reason = f"{item.asset.category} was there and never grasped: {item.id} in the place of {first}"
            found.append(Request(kind="variant", scenario=name, edits=edits, reason=reason))
    return found


def _unvisited(scenario: Scenario, name: str, category: str, cells: Sequence[Cell]) -> list[Request]:
    """The handled thing of a kind put in each cell that lies on its support, everything else that is free laid out round it."""
    found = []
    for item in _handled(scenario):
        if item.asset.category != category or item.parent is None or item.pose is None:
            continue
        try:
            roots = root_poses(scenario.scene, built := build_assets(scenario.scene), palm_pose(scenario))
        except SmithError:
            continue
        place = built[item.parent].affordances
        area = place.cavity(item.support) if item.relation == "inside" else place.support(item.support)
        T_support = roots[item.id] @ tf.inverse(tf.matrix(item.pose))
        base = scenario.embodiment.base or Pose()
        for cell in cells:
            middle = tf.matrix(base) @ np.array([*((c + 0.5) * CELL for c in cell), 0.0, 1.0])
            x, y = (tf.inverse(T_support) @ middle)[:2].tolist()
            half = 0.5 * max(built[item.id].size[:2])
            if max(abs(x) + half - area.size[0] / 2, abs(y) + half - area.size[1] / 2) > 0:
                continue
            edits = [MoveItem(item=item.id, pose=Pose.planar(x, y, item.pose.position[2], item.pose.yaw))]
            edits += [MoveItem(item=o.id) for o in scenario.scene.items if not o.fixed and o.parent == item.parent and o != item]
            found.append(
                Request(
                    kind="variant", scenario=name, edits=tuple(edits), reason=f"{item.id} never began in cell {cell} of the test"
                )
            )
    return found
