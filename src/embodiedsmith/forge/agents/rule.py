"""The rule agent: a grammar over the catalogue's words. It says which words it did not understand instead of guessing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.assets import Asset
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.forge.agents.agent import Case, Draft, Repair
from embodiedsmith.forge.agents.asked import Said
from embodiedsmith.forge.agents.effects import Effect, goal_of, hold_steps, skills
from embodiedsmith.forge.agents.furnish import Furnishing
from embodiedsmith.forge.agents.ground import Grounding, phrases_of
from embodiedsmith.forge.agents.rooms import rooms_of
from embodiedsmith.forge.agents.stage import Stage
from embodiedsmith.forge.agents.telling import reading
from embodiedsmith.forge.language import CannotBe, Meaning, NotUnderstood, read
from embodiedsmith.forge.repairs import repairs
from embodiedsmith.spec import All, Brief, EmbodimentSpec, Goal, Language, Provenance, Scenario, SceneSpec, TaskSpec
from embodiedsmith.tasks import goal_faults, instruction

ANY = "any"
"""The embodiment of a brief that leaves the robot open."""
FIRST_TRIED = "panda"
"""The robot that is tried first then."""
LANGUAGES: tuple[Language, ...] = ("en", "zh")
"""In which the goal is said."""
SKILL_SECONDS = 20.0
"""Time allowed for each skill that the goal takes [s]."""
LEAST_SECONDS = 40.0
"""Shortest horizon [s]."""
DRAWS = 12
"""Kinds drawn at most for a group named by a word such as "thing" before what is asked counts as impossible."""


class RuleAgent:
    """Reads English and Chinese briefs with a hand-made grammar."""

    name = "rule"

    def propose(self, brief: Brief, rng: np.random.Generator) -> Draft:
        """A draft for a brief; see `Agent.propose`."""
        meaning = read(brief.text)
        if not meaning.commands:
            what = "say what is to be put where, or what to open, close, stack, lift or grasp"
            raise NotUnderstood((), text=brief.text, reason=f"it says nothing to do that can be checked: {what}")
        name = FIRST_TRIED if brief.embodiment == ANY else brief.embodiment
        robot = embodiments.get(name)
        grounding, said, scene, goal = _drawn(meaning, brief.text, rng)
        if any(item.relation == "held" for item in scene.items) and robot.cradle is None:
            robot = _with_cradle(brief)
            name = robot.name
        travels = robot.base.kind == "planar"
        if travels:  # walls are there to be driven round
            scene = scene.model_copy(update={"rooms": rooms_of(meaning, scene)})
        initial = tuple(relation.predicate() for relation in grounding.stage.initial)
        task = TaskSpec(
            goal=goal,
            instructions={language: instruction(goal, scene, language, initial) for language in LANGUAGES},
            initial=initial,
            user_text=brief.text,
            hold_steps=hold_steps(grounding.effects),
            horizon=max(LEAST_SECONDS, SKILL_SECONDS * _skills(grounding.effects, travels=travels)),
        )
        scenario = Scenario(
            scene=scene,
            task=task,
            embodiment=EmbodimentSpec(name=name),
            provenance=Provenance(brief=brief, agent=self.name, seed=brief.seed),
        )
        asked = said.asked(meaning, grounding.effects, scene, None if brief.embodiment == ANY else name)
        return Draft(
            scenario=scenario,
            reading=reading(scenario, asked, meaning.language),
            warnings=tuple(dict.fromkeys((*meaning.warnings, *grounding.stage.warnings))),
            asked=asked,
        )

    def edit(self, case: Case, rng: np.random.Generator) -> Iterator[Repair]:
        """Repairs to try; see `Agent.edit`."""
        return repairs(case, rng)


def _with_cradle(brief: Brief) -> Robot:
    """A robot in whose hand things lie; raises CannotBe where another was asked for."""
    found = [robot for robot in map(embodiments.get, embodiments.names()) if robot.cradle is not None]
    if brief.embodiment != ANY:
        names = ", ".join(robot.name for robot in found)
        raise CannotBe((f"{brief.embodiment} has no hand that things lie in and are turned in; {names} has",), text=brief.text)
    return found[0]


def _drawn(meaning: Meaning, text: str, rng: np.random.Generator) -> tuple[Grounding, Said, SceneSpec, Goal]:
    """Things, scene and goal of a meaning. Groups ("the red thing") are drawn again where the kind drawn cannot be meant."""
    for left in reversed(range(DRAWS)):
        stage = Stage(rng)
        grounding = Grounding(meaning, stage)
        try:
            grounding.run()
            _refuse(stage.reasons, text)
            said = Said(stage)
            scene = Furnishing(meaning, stage, grounding.effects).run()
            if not grounding.effects:
                _refuse([*stage.reasons, "nothing is left to do"], text)
            goal = goal_of(grounding.effects)
            assets = {thing.id: thing.asset for thing in stage.things}
            impossible = _impossible(All(goals=(goal, *stage.starts())), assets)
            _refuse([*stage.reasons, *impossible, *_too_tall(stage)], text)
        except CannotBe:
            if not left or not any(phrase.kind == "tag" for command in meaning.commands for phrase in phrases_of(command)):
                raise
            continue
        return grounding, said, scene, goal
    raise AssertionError("the last draw returns or raises")


def _too_tall(stage: Stage) -> list[str]:
    """What is to start in a drawer or behind a door and cannot stand there."""
    reasons = []
    for thing in stage.things:
        if thing.place is None or thing.place[0] != "inside":
            continue
        holder = thing.place[1]
        shut = [c for c in holder.thing.asset.affordances.cavities if c.joint is not None and holder.part in (None, c.name)]
        if shut and thing.asset.size[2] > max(c.size[2] for c in shut):
            reasons.append(f"'{thing.id}' ({100 * thing.asset.size[2]:.1f} cm high) cannot stand in '{holder.text}'")
    return reasons


def _refuse(reasons: list[str], text: str) -> None:
    if reasons:
        raise CannotBe(tuple(dict.fromkeys(reasons)), text=text)


def _impossible(goal: Goal, assets: dict[str, Asset]) -> list[str]:
    """What no arrangement of these things can make true: too large, bolted down, without an inside."""
    return goal_faults(goal, assets)


def _skills(effects: list[Effect], *, travels: bool) -> int:
    """Skills the effects take; a robot that drives needs a way to each."""
    count = skills(effects)
    return 2 * count if travels else count
