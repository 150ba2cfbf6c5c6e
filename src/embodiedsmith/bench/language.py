"""How well an agent understands: fixed requests in English and Chinese, each with what it means, from easy to hard.

An agent's draft is right when its goal, its things and how its scene begins are what the request means, whatever it calls them
and whatever else lies about. A request that cannot be met is refused rightly when the refusal names what is at fault. Nothing is
simulated.
"""

from __future__ import annotations

import statistics
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, Literal

from embodiedsmith.bench.meaning import Meaning, Part
from embodiedsmith.evaluate.intervals import wilson
from embodiedsmith.forge import agents
from embodiedsmith.forge.agents.llm import Unreachable
from embodiedsmith.forge.language import CannotBe, NotUnderstood
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Brief, Language
from embodiedsmith.spec.scenario import AgentName

Verdict = Literal["right", "refused_rightly", "wrong", "refused_wrongly"]
CORRECT: tuple[Verdict, ...] = ("right", "refused_rightly")


@dataclass(frozen=True, kw_only=True)
class Request:
    """One sentence and what it means."""

    number: int
    """Its place in the data file, from 1: both languages of an entry share it."""
    language: Language
    kind: str
    """What it tries: relations, attributes, counts, sequences, several, constraints, scene, wording, unknown, impossible."""
    level: str
    """easy, medium or hard."""
    text: str
    meaning: Meaning | None
    """None: it must be refused."""
    refuse: tuple[str, ...] | None
    """Words of which a refusal must name one (none: any will do); None: it must not be refused."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What an agent made of a request."""

    number: int
    language: Language
    kind: str
    level: str
    text: str
    verdict: Verdict
    why: str
    seconds: float


def requests() -> list[Request]:
    """Every request of the data file, in each language."""
    entries = tomllib.loads(resources.files(__package__).joinpath("language.toml").read_text("utf-8"))["request"]
    return [_request(entry, number, language) for language in ("en", "zh") for number, entry in enumerate(entries, 1)]


def measure(
    *,
    agent: AgentName | agents.Agent = "rule",
    seed: int = 0,
    among: Iterable[Request] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Put every request to an agent once.

    Args:
        agent: The agent or its name.
        seed: Of what it draws.
        among: Requests; None: all.
        say: Told each result.

    Returns:
        `agent`, `asked`, `correct` (right or refused rightly), `rate` with its Wilson interval `wilson`; the same by `language`,
        `class` and `level`; `verdicts`: counts; `seconds_median` and `seconds_most` a request; `requests`: every result.

    Raises:
        UsageError: no such agent, or it is not set up.
        Unreachable: a language model that cannot be asked at all.
    """
    asked = agents.get(agent) if isinstance(agent, str) else agent
    results = []
    for request in requests() if among is None else among:
        result = _tried(asked, request, seed)
        results.append(result)
        say(f"{result.verdict:<15} {result.text}{f'  ({result.why})' if result.verdict not in CORRECT else ''}")
    times = [result.seconds for result in results] or [0.0]
    return {
        "agent": asked.name,
        **_rates(results),
        **{
            name: {value: _rates([r for r in results if getattr(r, key) == value]) for value in _values(results, key)}
            for name, key in (("language", "language"), ("class", "kind"), ("level", "level"))
        },
        "verdicts": dict(Counter(result.verdict for result in results)),
        "seconds_median": round(statistics.median(times), 4),
        "seconds_most": round(max(times), 4),
        "requests": [asdict(result) for result in results],
    }


def _tried(agent: agents.Agent, request: Request, seed: int) -> Result:
    brief = Brief(text=request.text, seed=seed, agent="llm" if agent.name == "llm" else "rule")
    started = time.perf_counter()
    verdict: Verdict
    try:
        draft = agent.propose(brief, generator(seed, "language", request.number, request.language))
    except (NotUnderstood, CannotBe) as error:
        verdict, why = _refused(request, str(error)), " ".join(str(error).split())
    except Unreachable:
        raise
    except SmithError as error:
        verdict, why = "wrong", " ".join(str(error).split())
    else:
        fault = "it must be refused" if request.meaning is None else request.meaning.fault(draft)
        verdict, why = ("right", "") if fault is None else ("wrong", fault)
    return Result(
        number=request.number, language=request.language, kind=request.kind, level=request.level, text=request.text,
        verdict=verdict, why=why, seconds=time.perf_counter() - started,
    )  # fmt: skip


def _refused(request: Request, message: str) -> Verdict:
    if request.refuse is None:
        return "refused_wrongly"
    said = message.replace(request.text, "")  # the brief itself is quoted in it
    return "refused_rightly" if not request.refuse or any(word in said for word in request.refuse) else "refused_wrongly"


def _values(results: list[Result], key: str) -> list[str]:
    return list(dict.fromkeys(getattr(result, key) for result in results))


def _rates(results: list[Result]) -> dict[str, Any]:
    correct = sum(result.verdict in CORRECT for result in results)
    low, high = wilson(correct, len(results))
    return {
        "asked": len(results), "correct": correct, "rate": round(correct / len(results), 4) if results else None,
        "wilson": [round(low, 4), round(high, 4)],
    }  # fmt: skip


def _request(entry: dict[str, Any], number: int, language: Language) -> Request:
    meaning = None
    if "goal" in entry:
        things = {
            name: Part(
                kinds=tuple(part["is"]), color=part.get("color"), material=tuple(part.get("material", ())), size=part.get("size"),
                count=part.get("count", 1), largest=part.get("largest", 0),
            )
            for name, part in entry["things"].items()
        }  # fmt: skip
        lists = {key: tuple(entry.get(key, ())) for key in ("goal", "stages", "may", "start", "absent")}
        meaning = Meaning(things=things, at_least=entry.get("at_least", 0), **lists)
    return Request(
        number=number, language=language, kind=entry["class"], level=entry["level"], text=entry[language], meaning=meaning,
        refuse=tuple(entry["refuse"][language]) if "refuse" in entry else None,
    )  # fmt: skip
