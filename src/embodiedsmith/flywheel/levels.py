"""Levels of difficulty: one forged scenario, varied from almost nothing to everything its supports and the robot's reach allow.

A difficulty is a number in [0, 1]; the ten levels are points on it. With it grow the areas over which free things are strewn and
the angles they are turned by, how far the arm starts from home, and how many things stand about that the goal does not name. Of
these, what is far from the robot's ways comes first (distractors), then what is near them (clutter), and last what stands in them
(obstacles). From level 7 on masses, friction, forces and observations vary, too. What varies at a level varies at least as far at
the next.
"""

from __future__ import annotations

import math
from functools import lru_cache

from pydantic import Field

from embodiedsmith.flywheel.room import areas, in_the_way
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Area, Item, Noun, Randomization, Scenario, SceneSpec, predicates, split_reference
from embodiedsmith.spec.scenario import Range

LEVELS = 10


class LevelConfig(Noun):
    """What varies at full difficulty, and from where on."""

    position: float = Field(default=0.12, ge=0.0, le=0.5)
    """Largest shift of a free item along world x and y [m], where its support and the robot's reach allow it."""
    yaw: float = Field(default=3.14, ge=0.0, le=3.15)
    """Largest turn of a free item [rad], where there is room for it to turn."""
    robot_joints: float = Field(default=0.05, ge=0.0, le=0.5)
    """Largest offset of each arm joint from home [rad]."""
    least: float = Field(default=0.05, ge=0.0, le=1.0)
    """Part of all that which varies at the lowest difficulty."""
    domain_from: float = Field(default=6 / 9, ge=0.0, le=1.0)
    """Difficulty from which physics varies: that of level 7 of 10."""
    friction: Range = (0.5, 1.5)
    """Scale of the sliding friction of free items from there on."""
    mass: Range = (0.8, 1.2)
    """Scale of the mass of free items from there on."""
    torque_noise: float = Field(default=0.05, ge=0.0, le=1.0)
    """Standard deviation of actuator force noise from there on, as a fraction of the applied force."""
    observation_noise: float = Field(default=0.02, ge=0.0, le=1.0)
    """Standard deviation of observation noise from there on, as a fraction of each observed value."""


def difficulty(level: int, levels: int = LEVELS) -> float:
    """The difficulty of a level, in [0, 1].

    Raises:
        UsageError: there is no such level.
    """
    if not 1 <= level <= levels:
        raise UsageError(f"there is no level {level}", choices=[str(k) for k in range(1, levels + 1)])
    return (level - 1) / (levels - 1) if levels > 1 else 1.0


def nearest_level(hardness: float, levels: int = LEVELS) -> int:
    """The level whose difficulty is nearest to `hardness`."""
    return 1 + round(min(max(hardness, 0.0), 1.0) * (levels - 1))


def at_level(scenario: Scenario, level: int, levels: int = LEVELS, config: LevelConfig | None = None) -> Scenario:
    """The scenario as it is at a level: see `at_difficulty`.

    Raises:
        UsageError: there is no such level.
    """
    return at_difficulty(scenario, difficulty(level, levels), config)


def at_difficulty(scenario: Scenario, hardness: float, config: LevelConfig | None = None) -> Scenario:
    """The scenario at a difficulty in [0, 1]: as laid out with almost no variation at 0, with everything at 1.

    Always made from the scenario as it was forged, never from one that this made.

    Raises:
        UsageError: the difficulty is outside [0, 1].
        CompileError: the scenario is not laid out.
    """
    if not 0.0 <= hardness <= 1.0:
        raise UsageError(f"the difficulty {hardness} is not within 0 and 1")
    config = config or LevelConfig()
    kept = set(_present(scenario, hardness))
    scene = scenario.scene
    items = tuple(item for item in scene.items if item.id in kept)
    part = config.least + hardness * (1.0 - config.least)
    varied = _randomization(scenario.randomization, hardness, config)
    whole = _areas(scenario.to_json(), config.position, config.yaw)
    spread = {name: _scaled(area, part) for name, area in whole.items() if name in kept}
    return scenario.model_copy(
        update={
            "scene": scene.model_copy(update={"items": items}),
            "randomization": varied.model_copy(update={"areas": spread}),
        }
    )


def unnamed(scenario: Scenario) -> tuple[str, ...]:
    """Free things that neither the goal nor the start of the task names, and that carry nothing it names; those far from the
    robot's ways first, those that stand in its way last."""
    scene = scenario.scene
    said = [*predicates(scenario.task.goal), *scenario.task.initial]
    words = {split_reference(arg)[0] for p in said for arg in p.args}
    named = {link.id for item in scene.items if item.id in words for link in _chain(scene, item)}
    return in_the_way(scenario, [item.id for item in scene.items if not item.fixed and item.id not in named])


def _present(scenario: Scenario, hardness: float) -> list[str]:
    """Ids of the items that are there at a difficulty, in the scene's order; what stood on a thing that is not is not either."""
    order = unnamed(scenario)
    gone = set(order[math.ceil(hardness * len(order) - 1e-9) :])
    scene = scenario.scene
    return [item.id for item in scene.items if not gone & {link.id for link in _chain(scene, item)}]


def _chain(scene: SceneSpec, item: Item) -> list[Item]:
    """An item and all that carries it."""
    chain = [item]
    while (parent := chain[-1].parent) is not None:
        chain.append(scene.item(parent))
    return chain


def _randomization(random: Randomization, hardness: float, config: LevelConfig) -> Randomization:
    """What varies besides places; never less than physics varied in the scenario as forged."""
    part = config.least + hardness * (1.0 - config.least)
    changed: dict[str, object] = {
        "position": part * config.position,
        "yaw": part * config.yaw,
        "robot_joints": part * config.robot_joints,
    }
    if hardness >= config.domain_from - 1e-9:
        changed |= {
            "friction": _hull(random.friction, config.friction),
            "mass": _hull(random.mass, config.mass),
            "torque_noise": max(random.torque_noise, config.torque_noise),
            "observation_noise": max(random.observation_noise, config.observation_noise),
        }
    return random.model_copy(update=changed)


@lru_cache(maxsize=64)
def _areas(scenario_json: str, position: float, yaw: float) -> dict[str, Area]:
    return areas(Scenario.from_json(scenario_json), position, yaw)


def _scaled(area: Area, part: float) -> Area:
    (x0, x1), (y0, y1) = area.x, area.y
    return Area(x=(part * x0, part * x1), y=(part * y0, part * y1), yaw=part * area.yaw)


def _hull(first: Range, second: Range) -> Range:
    return min(first[0], second[0]), max(first[1], second[1])
