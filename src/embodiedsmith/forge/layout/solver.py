"""From a draft to a scenario in which everything has its place: bounded attempts, from comfortable to tight."""

from __future__ import annotations

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.assets.asset import Asset
from embodiedsmith.forge.layout import before, cameras, fit, furniture, mobile, needs, robot
from embodiedsmith.forge.layout.attempt import Attempt
from embodiedsmith.forge.layout.compact import compact, handy
from embodiedsmith.forge.layout.errors import LayoutError
from embodiedsmith.forge.layout.failures import Failure, NoPlaceError, hopeless, merged
from embodiedsmith.forge.layout.needs import Needs
from embodiedsmith.spec import Pose, Scenario
from embodiedsmith.world.compile import build_assets

RESTARTS = 40
WIDER = ((4, 1.2), (10, 1.4), (18, 1.6))  # restart from which the work surface is wider, and by how much
COMPACT = ((4, 0.88), (8, 0.78), (14, 0.7))  # the same for how small broad things are
BASES = 6  # places of the robot that are tried for things that stand already


def layout(scenario: Scenario, rng: np.random.Generator, *, anticipate: bool = True) -> Scenario:
    """Place every item, the robot, cameras and lights of a draft.

    What is already placed (an item with a pose on something placed, the robot's base, cameras, lights) stays as it is, and the
    rest finds its place round it. World frame of a new scene: a fixed robot stands at the origin facing +x, its base at the
    height of the work surface. A robot without a base pose among things that stand is put where it best reaches what the task
    needs. Relations that the task asks of the start hold whatever the reset draws. Deterministic for a given `rng`.

    With `anticipate`, the task's needs are looked to: what is handled, and every handle over its way, is within reach; doors
    and drawers swing free, with room for the hand at their handles; there is room for fingers round things whatever the reset
    draws within `Randomization.position` and `yaw`; spots where the task puts things stay free; containers grow to hold what
    goes in. Without it, as a scene made apart from its task: things stand apart on their supports, the robot at any side.

    Raises:
        LayoutError: with findings, the most frequent first: something cannot fit (`geometry.too_large`, `geometry.too_many`), is
            nowhere within reach (`geometry.out_of_reach`) or has no free place (`geometry.no_space`).
        CompileError: assets that cannot be built, parts that do not exist.
    """
    body = embodiments.get(scenario.embodiment.name)
    built = build_assets(scenario.scene)
    wanted = needs.read(scenario, built) if anticipate else needs.NOTHING
    if anticipate and body.base.kind == "planar":
        scenario, built = mobile.roomy(scenario, built, wanted)
    scenario, built = handy(scenario, built, wanted)
    scenario, built = fit.fitted(scenario, built, wanted)
    scenario, built = before.deepened(scenario, built, wanted)
    try:
        bases = _bases(scenario, built, wanted, rng, BASES, anticipate=anticipate)
    except NoPlaceError as error:
        raise LayoutError(merged([error.failure])) from error
    surface = furniture.work_surface(Attempt(scenario, built, body, wanted, rng, 0.0))
    failures: list[Failure] = []
    for restart in range(RESTARTS):
        comfort = max(0.0, 1.0 - restart / (0.5 * RESTARTS))
        wide, grown = _wider(scenario, built, surface, restart)
        wide, grown = _compacter(wide, grown, wanted, restart)
        there = _with_base(wide, bases[restart % len(bases)]) if bases else wide
        attempt = Attempt(there, grown, body, wanted, rng, comfort, anticipate)
        try:
            attempt.run()
        except NoPlaceError as error:
            failures.append(error.failure)
            if hopeless(failures):
                break
            continue
        return _laid_out(attempt)
    raise LayoutError(merged(failures))


def base_poses(scenario: Scenario, built: dict[str, Asset], rng: np.random.Generator, count: int) -> list[Pose]:
    """Poses for the robot's base among things that stand, whatever its own is now: at most `count`, best first.

    A fixed robot stands at a side of the work surface and faces it; those poses come first from which it reaches most of what
    the task needs: grasps, handles over their way, cavities. A robot on wheels starts anywhere clear, best before the surface.
    None where it stands nowhere.
    """
    try:
        return _bases(_with_base(scenario, None), built, needs.read(scenario, built), rng, count, anticipate=True)
    except NoPlaceError:
        return []


def _bases(
    scenario: Scenario, built: dict[str, Asset], wanted: Needs, rng: np.random.Generator, count: int, *, anticipate: bool
) -> list[Pose]:
    """Base poses for what stands; none when the robot has one, or when it comes first because the work surface has no place."""
    if scenario.embodiment.base is not None:
        return []
    attempt = Attempt(scenario, built, embodiments.get(scenario.embodiment.name), wanted, rng, 0.0, anticipate)
    attempt.keep()
    if not attempt.roots or (attempt.surface is not None and attempt.surface not in attempt.roots):
        return []
    return robot.bases(attempt, count)


def _wider(scenario: Scenario, built: dict[str, Asset], surface: str | None, restart: int) -> tuple[Scenario, dict[str, Asset]]:
    """After many restarts, the scenario with a wider work surface."""
    factor = max((factor for since, factor in WIDER if restart >= since), default=1.0)
    return (scenario, built) if surface is None or factor == 1.0 else fit.spacious(scenario, built, surface, factor)


def _compacter(scenario: Scenario, built: dict[str, Asset], wanted: Needs, restart: int) -> tuple[Scenario, dict[str, Asset]]:
    """After some restarts, the scenario with smaller things."""
    factor = min((factor for since, factor in COMPACT if restart >= since), default=1.0)
    return (scenario, built) if factor == 1.0 else compact(scenario, built, wanted, factor)


def _with_base(scenario: Scenario, base: Pose | None) -> Scenario:
    return scenario.model_copy(update={"embodiment": scenario.embodiment.model_copy(update={"base": base})})


def _laid_out(attempt: Attempt) -> Scenario:
    scenario = attempt.scenario
    scene = scenario.scene
    items = tuple(item.model_copy(update={"pose": attempt.poses[item.id]}) for item in scene.items)
    scene = scene.model_copy(
        update={
            "items": items,
            "cameras": scene.cameras or cameras.look(attempt),
            "lights": scene.lights or cameras.lights(attempt),
            "rooms": attempt.rooms,
            "walls": attempt.walls,
        }
    )
    return _with_base(scenario.model_copy(update={"scene": scene}), attempt.base)
