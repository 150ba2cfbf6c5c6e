"""The language-model agent: a model reads the brief and proposes; its answer is typed, checked and logged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from embodiedsmith.forge.agents.agent import Case, Draft, Repair
from embodiedsmith.forge.agents.llm import catalogue, repairing
from embodiedsmith.forge.agents.llm import draft as drafting
from embodiedsmith.forge.agents.llm.errors import LLMError, NoAnswer
from embodiedsmith.forge.agents.llm.exchange import Log, Question
from embodiedsmith.forge.agents.llm.prompts import prompt
from embodiedsmith.forge.agents.llm.schema import Answer
from embodiedsmith.forge.agents.llm.settings import Settings, check_installed
from embodiedsmith.forge.agents.llm.text import clean
from embodiedsmith.forge.language import CannotBe, NotUnderstood
from embodiedsmith.forge.language.neighbours import suggest_nouns
from embodiedsmith.forge.repairs import repairs
from embodiedsmith.spec import Brief, Scenario, predicates
from embodiedsmith.tasks.goal import title
from embodiedsmith.world.compile import build_assets

if TYPE_CHECKING:
    from pydantic_ai.models import Model

PROPOSE = "propose_v1"
REPAIR = "repair_v1"
MOST_FINDINGS = 8
"""Findings told to the model, the first ones."""

T = TypeVar("T", bound=BaseModel)


class LLMAgent:
    """Asks a language model. Deterministic as far as the model is: each question carries a seed drawn from the given generator.

    Args:
        settings: The model and the caps; None: from the environment (see `Settings.from_environment`).
        log: Folder in which every exchange is written, one file a question; None: none is.
        replay: Folder of such a log: questions answered in it are answered from it, bit for bit. Others are put to the model if
            there are settings, and are an error if there are none.
        model: A pydantic-ai model to ask instead of the one that the settings name.

    Raises:
        UsageError: no model is set (and there is nothing to replay), or what it needs is not installed.
    """

    name = "llm"

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        log: Path | None = None,
        replay: Path | None = None,
        model: Model | None = None,
    ) -> None:
        if settings is None and replay is None:
            settings = Settings.from_environment()
        if settings is not None:
            check_installed()
        self._settings = settings
        self._log = None if log is None else Log(Path(log))
        self._replay = None if replay is None else Log(Path(replay))
        self._model = model

    def propose(self, brief: Brief, rng: np.random.Generator) -> Draft:
        """A draft for a brief; see `Agent.propose`.

        Raises:
            NotUnderstood: the model found words for things that the catalogue has not.
            CannotBe: it found the wish impossible.
            LLMError: it could not be asked, or gave no usable answer within the caps.
        """
        instructions, request = prompt(PROPOSE).render(
            {
                "things": catalogue.things(), "goals": catalogue.goals(), "robots": catalogue.robots(),
                "brief": brief.text, "robot": brief.embodiment,
            }
        )  # fmt: skip
        question = Question(prompt=PROPOSE, instructions=instructions, request=request, seed=_seed(rng))
        answer = self._ask(
            question, Answer, lambda found: drafting.faults(found, brief), lambda found: drafting.doubts(found, brief)
        )
        if answer.plan is None:
            raise _refusal(answer, brief)
        return drafting.draft(answer, brief)

    def edit(self, case: Case, rng: np.random.Generator) -> Iterator[Repair]:
        """Repairs that the model proposes; where it proposes none, or fails, those of the rules. See `Agent.edit`."""
        yield from self._repairs(case, _seed(rng)) or repairs(case, rng)

    def _repairs(self, case: Case, seed: int) -> list[Repair]:
        """What the model proposes; empty when it fails or proposes nothing, and the log says so."""
        if not case.findings or not case.allowed:
            return []
        instructions, request = prompt(REPAIR).render(
            {
                "kinds": ", ".join(sorted(case.allowed)), "things": catalogue.things(), "brief": case.brief.text,
                "scene": _scene(case.scenario), "goal": _goal(case.scenario), "findings": _findings(case),
            }
        )  # fmt: skip
        question = Question(prompt=REPAIR, instructions=instructions, request=request, seed=seed)
        shape = repairing.answer_type(case.allowed)
        try:
            answer = self._ask(question, shape, lambda found: repairing.faults(found, case), lambda found: [])
        except LLMError as error:
            found, why = [], error.what
        else:
            found, why = repairing.repairs_of(answer, case), "the model proposed none"
        if not found and self._log is not None:
            self._log.note(question, fallback="the rules' repairs", why=why)
        return found

    def _ask(self, question: Question, shape: type[T], check: Callable[[T], list[str]], doubt: Callable[[T], list[str]]) -> T:
        """An answer from the log or from the model; raises `LLMError`."""
        said = None if self._replay is None else self._replay.answer(question)
        if said is not None and (said[0] is not None or self._settings is None):  # what failed is asked again when it can be
            return _replayed(said, shape, check)
        if self._settings is None:
            raise LLMError(
                "the log does not hold this question",
                where=str(self._replay.folder if self._replay else ""),
                remedy="replay with the version, brief and seed that the log was made with, or set a model to ask",
            )
        from embodiedsmith.forge.agents.llm import client

        reply = client.ask(question, shape, check=check, doubt=doubt, settings=self._settings, model=self._model)
        if self._log is not None:
            self._log.write(
                question, reply.messages, model=self._settings.model, endpoint=self._settings.endpoint,
                answer=None if reply.answer is None else reply.answer.model_dump_json(),
                error=None if reply.error is None else reply.error.to_json(),
                seconds=reply.seconds, secret=self._settings.key() or "",
            )  # fmt: skip
        if reply.error is not None:
            raise reply.error
        if reply.answer is None:
            raise NoAnswer("the language model gave no answer")
        return reply.answer


def _replayed(said: tuple[str | None, str | None], shape: type[T], check: Callable[[T], list[str]]) -> T:
    text, error = said
    if text is None:
        raise LLMError(f"as logged: {error}")
    try:
        answer = shape.model_validate_json(text)
    except ValidationError as invalid:
        raise LLMError("the logged answer does not fit this version", faults=[clean(str(invalid), 400)]) from invalid
    if found := check(answer):
        raise LLMError("the logged answer does not fit this version", faults=found)
    return answer


def _refusal(answer: Answer, brief: Brief) -> NotUnderstood | CannotBe:
    unknown = [clean(p.words, 60) for p in answer.problems if p.kind == "unknown"]
    impossible = [f"{clean(p.words, 60)}: {clean(p.why)}" for p in answer.problems if p.kind == "impossible"]
    if unknown:
        return NotUnderstood([(word, suggest_nouns(word)) for word in unknown], text=brief.text)
    return CannotBe(impossible, text=brief.text)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


# ---------------------------------------------------------------------- a case, in short


def _scene(scenario: Scenario) -> dict[str, Any]:
    """Items with their places [m], sizes [m] and turns [rad], and the robot."""
    built = build_assets(scenario.scene)
    items = [
        {
            "id": item.id, "category": item.asset.category, "color": item.asset.color, "size": _rounded(built[item.id].size),
            "parent": item.parent, "relation": item.relation, "part": item.support, "joints": item.joints, "fixed": item.fixed,
            "place": None if item.pose is None else _rounded(item.pose.position),
        }
        for item in scenario.scene.items
    ]  # fmt: skip
    base = scenario.embodiment.base
    robot = {"name": scenario.embodiment.name, "base": None if base is None else _rounded(base.position)}
    return {"setting": scenario.scene.setting, "items": items, "robot": robot}


def _rounded(lengths: Iterable[float]) -> list[float]:
    """To millimetres."""
    return [round(float(length), 3) for length in lengths]


def _goal(scenario: Scenario) -> dict[str, Any]:
    """The goal, and its predicates by their numbers."""
    goal = scenario.task.goal
    return {"goal": goal.model_dump(mode="json"), "predicates": {str(k): title(p) for k, p in enumerate(predicates(goal))}}


def _findings(case: Case) -> list[dict[str, Any]]:
    return [
        {
            "number": number, "code": f.code, "severity": f.severity, "subjects": f.subjects, "message": f.message,
            "cures": [kind for kind in f.cures if kind in case.allowed],
        }
        for number, f in enumerate(case.findings[:MOST_FINDINGS])
    ]  # fmt: skip
