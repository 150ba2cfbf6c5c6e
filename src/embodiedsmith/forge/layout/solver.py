"""From a draft to a scenario in which everything has its place: bounded attempts, from comfortable to tight."""

from __future__ import annotations

from collections import Counter

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.forge.layout import cameras, fit, mobile, needs
from embodiedsmith.forge.layout.attempt import Attempt, NoPlaceError
from embodiedsmith.forge.layout.errors import LayoutError
from embodiedsmith.spec import Finding, Scenario
from embodiedsmith.world.compile import build_assets

RESTARTS = 40


def layout(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    """Place every item, the robot, cameras and lights of a draft.

    What the draft already places (an item's pose, the robot's base, cameras, lights) stays as it is. World frame: a fixed robot
    stands at the origin facing +x, its base at the height of the work surface. Deterministic for a given `rng`.

    The task's needs are anticipated: what is handled, and every handle over its way, is within reach; doors and drawers
    swing free, with room for the hand at their handles; there is room for fingers round things whatever the reset draws within
    `Randomization.position` and `yaw`; spots where the task puts things stay free; containers grow to hold what goes in.

    Raises:
        LayoutError: with findings, when something cannot fit (`geometry.too_large`) or no place was found (`geometry.no_space`).
        CompileError: assets that cannot be built, parts that do not exist.
    """
    robot = embodiments.get(scenario.embodiment.name)
    built = build_assets(scenario.scene)
    wanted = needs.read(scenario, built)
    if robot.base.kind == "planar":
        scenario, built = mobile.roomy(scenario, built, wanted)
    scenario, built = fit.fitted(scenario, built, wanted)
    failures: Counter[str] = Counter()
    findings: dict[str, Finding] = {}
    for restart in range(RESTARTS):
        attempt = Attempt(scenario, built, robot, wanted, rng, comfort=max(0.0, 1.0 - restart / (0.7 * RESTARTS)))
        try:
            attempt.run()
        except NoPlaceError as error:
            subject = error.finding.subjects[0]
            failures[subject] += 1
            findings[subject] = error.finding
            continue
        return _laid_out(attempt)
    raise LayoutError(tuple(findings[subject] for subject, _ in failures.most_common()))


def _laid_out(attempt: Attempt) -> Scenario:
    scenario = attempt.scenario
    scene = scenario.scene
    items = tuple(item.model_copy(update={"pose": attempt.poses[item.id]}) for item in scene.items)
    scene = scene.model_copy(
        update={
            "items": items,
            "cameras": scene.cameras or cameras.look(attempt),
            "lights": scene.lights or cameras.lights(attempt),
        }
    )
    embodiment = scenario.embodiment.model_copy(update={"base": attempt.base})
    return scenario.model_copy(update={"scene": scene, "embodiment": embodiment})
