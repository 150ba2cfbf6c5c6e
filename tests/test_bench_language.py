"""The language benchmark: its requests are sound, it tells right from wrong, and it scores any agent alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from llm_answers import SETTINGS, Model, clause, item, plan, refusal

from embodiedsmith import cli
from embodiedsmith.assets import TAGS, categories
from embodiedsmith.bench.language import Request, measure, requests
from embodiedsmith.bench.meaning import Meaning, Part
from embodiedsmith.forge.agents import Case, Draft, Repair
from embodiedsmith.forge.agents.llm import LLMAgent, Settings, Unreachable
from embodiedsmith.forge.language import CannotBe, NotUnderstood
from embodiedsmith.spec import Brief
from embodiedsmith.tasks.registry import predicate, predicate_names

REQUESTS = requests()


def named(text: str) -> Request:
    return next(request for request in REQUESTS if request.text == text)


def draft(answer: dict[str, Any], text: str = "x") -> Draft:
    """A draft as an agent would make it."""
    return LLMAgent(SETTINGS, model=Model(answer).model).propose(Brief(text=text, agent="llm"), np.random.default_rng(0))


def test_there_are_enough_requests_in_both_languages() -> None:
    assert len(REQUESTS) >= 60
    assert len({request.text for request in REQUESTS}) == len(REQUESTS)
    halves = Counter(request.language for request in REQUESTS)
    assert halves["en"] == halves["zh"]
    for key in ("kind", "level"):
        assert all(count >= 10 for count in Counter(getattr(request, key) for request in REQUESTS).values())
    refused = sum(request.meaning is None for request in REQUESTS)
    assert 0.1 < refused / len(REQUESTS) < 0.4


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda r: r.text)
def test_what_a_request_means_is_said_in_known_names(request_: Request) -> None:
    meaning = request_.meaning
    if meaning is None:
        assert request_.refuse is not None
        assert all(word in request_.text for word in request_.refuse)
        return
    known = {*categories(), *TAGS}
    for part in meaning.things.values():
        assert set(part.kinds) <= known
        assert part.color is None or any(part.color in categories()[kind].colors for kind in part.kinds)
    for line in (*meaning.goal, *meaning.stages, *meaning.may, *meaning.start):
        for text in (one for option in line.split(" / ") for one in option.split(" or ")):
            names, *roles = text.removeprefix("not ").split()
            assert set(names.split("|")) <= {*predicate_names()}
            assert all(len(predicate(name).roles) == len(roles) for name in names.split("|"))
            assert {role.partition(".")[0] for role in roles} <= set(meaning.things)


STACK = Meaning(
    things={"r": Part(kinds=("block",), color="red"), "b": Part(kinds=("block",), color="blue")}, goal=("on r b",)
)  # fmt: skip
RED, BLUE = item("x", "block", color="red"), item("y", "block", color="blue")


def test_ids_and_what_lies_about_do_not_matter() -> None:
    assert STACK.fault(draft(plan([RED, BLUE, item("lemon")], clause("on", "x", "y")))) is None


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (plan([RED, BLUE], clause("on", "y", "x")), "lacks"),
        (plan([RED, BLUE], clause("near", "x", "y")), "lacks"),
        (plan([RED, BLUE], clause("on", "x", "y", holds=False)), "lacks"),
        (plan([RED, BLUE], clause("on", "x", "y"), clause("upright", "y")), "also wants upright"),
        (plan([RED, BLUE], clause("on", "x", "y"), clause("near", "x", "y"), how="any"), "lacks"),
        (plan([RED, item("y", "block", color="green")], clause("on", "x", "y")), "no such things"),
        (plan([RED, item("y", "book", color="blue")], clause("on", "x", "y")), "no such things"),
    ],
)
def test_another_goal_or_another_thing_is_wrong(answer: dict[str, Any], why: str) -> None:
    assert why in str(STACK.fault(draft(answer)))


def scored(meaning: Meaning, *answers: dict[str, Any]) -> list[bool]:
    return [meaning.fault(draft(answer)) is None for answer in answers]


def test_parts_are_told_apart_by_their_place() -> None:
    meaning = Meaning(
        things={"m": Part(kinds=("mug",)), "d": Part(kinds=("drawer_unit",))}, goal=("inside m d.drawer:top",)
    )  # fmt: skip
    things = [item("mug"), item("unit", "drawer_unit", parts=3)]
    top, middle, any_ = (clause("inside", "mug", ref) for ref in ("unit.drawer_top", "unit.drawer_middle", "unit"))
    assert scored(meaning, plan(things, top), plan(things, middle), plan(things, any_)) == [True, False, False]


def test_every_means_all_there_are() -> None:
    meaning = Meaning(things={"a": Part(kinds=("fruit",), count="every"), "b": Part(kinds=("box",))}, goal=("inside a b",))
    things = [item("apple"), item("lemon"), item("box")]
    both = [clause("inside", "apple", "box"), clause("inside", "lemon", "box")]
    assert scored(meaning, plan(things, *both), plan(things, both[0]), plan([*things, item("banana")], *both)) == [
        True,
        False,
        False,
    ]


def test_the_largest_is_larger_than_its_like() -> None:
    meaning = Meaning(things={"x": Part(kinds=("block",), largest=2), "b": Part(kinds=("bowl",))}, goal=("inside x b",))
    big, small, bowl = item("big", "block", size="large"), item("small", "block", size="small"), item("bowl")
    goals = [clause("inside", name, "bowl") for name in ("big", "small")]
    same = item("big", "block", size="small")
    assert scored(meaning, *(plan([big, small, bowl], goal) for goal in goals)) == [True, False]
    assert scored(meaning, *(plan([same, small, bowl], goal) for goal in goals)) == [False, False]


def test_stages_count_in_their_order() -> None:
    meaning = Meaning(
        things={"d": Part(kinds=("drawer_unit",))}, stages=("open d.drawer:top",), goal=("closed d.drawer:top",)
    )  # fmt: skip
    things = [item("d", "drawer_unit", parts=2)]
    opened, closed = clause("open", "d.drawer_top"), clause("closed", "d.drawer_top")
    answers = [plan(things, opened, closed, how="sequence"), plan(things, closed), plan(things, closed, opened, how="sequence")]
    assert scored(meaning, *answers) == [True, False, False]


def test_what_is_so_at_the_start_counts() -> None:
    meaning = Meaning(
        things={"a": Part(kinds=("apple",)), "b": Part(kinds=("bowl",)), "p": Part(kinds=("plate",))},
        goal=("on a p",), start=("inside a b", "left_of b p"), absent=("book",), at_least=3,
    )  # fmt: skip
    inside = item("apple", parent="bowl", relation="inside")
    goal, said = clause("on", "apple", "plate"), [clause("left_of", "bowl", "plate")]
    rest = [item("bowl"), item("plate")]
    assert scored(
        meaning,
        plan([inside, *rest], goal, start=said),
        plan([item("apple"), *rest], goal, start=said),
        plan([inside, *rest], goal),
        plan([inside, *rest, item("book")], goal, start=said),
    ) == [True, False, False, False]


class Asked:
    """An agent that answers by the text of the brief."""

    name = "asked"

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers

    def propose(self, brief: Brief, rng: np.random.Generator) -> Draft:
        answer = self.answers[brief.text]
        if isinstance(answer, Exception):
            raise answer
        return draft(answer, brief.text)

    def edit(self, case: Case, rng: np.random.Generator) -> Iterator[Repair]:
        yield from ()


def test_answers_and_refusals_are_scored_alike_for_any_agent() -> None:
    right, wrong, silly = "put the apple in the bowl", "put the mug on the plate", "put the elephant in the box"
    other, mapped, kept = "put the scissors in the drawer", "put the clementine in the bowl", "open the drawer"
    table, apple = "put the table in the mug", "open the apple"
    answers = {
        right: plan([item("apple"), item("bowl")], clause("inside", "apple", "bowl")),
        wrong: plan([item("mug"), item("plate")], clause("near", "mug", "plate")),
        silly: NotUnderstood([("elephant", ())], text=silly),
        other: NotUnderstood([("drawer", ())], text=other),
        mapped: plan([item("orange"), item("bowl")], clause("inside", "orange", "bowl")),
        kept: CannotBe(["it is shut"], text=kept),
        table: CannotBe(["too large"], text=table),
        apple: plan([item("microwave")], clause("open", "microwave.door")),
    }
    found = measure(agent=Asked(answers), among=[named(text) for text in answers])
    assert [r["verdict"] for r in found["requests"]] == [
        "right", "wrong", "refused_rightly", "refused_wrongly", "right", "refused_wrongly", "refused_rightly", "wrong",
    ]  # fmt: skip
    assert (found["asked"], found["correct"], found["rate"]) == (8, 4, 0.5)
    assert found["wilson"][0] < 0.5 < found["wilson"][1]
    assert found["language"]["en"]["asked"] == 8
    assert found["class"]["unknown"] == {"asked": 3, "correct": 2, "rate": 0.6667, "wilson": found["class"]["unknown"]["wilson"]}


def test_a_language_model_is_scored_too() -> None:
    agent = LLMAgent(SETTINGS, model=Model(refusal("unknown", "elephant"), "rubbish").model)
    found = measure(agent=agent, among=[named("put the elephant in the box"), named("open the apple")])
    assert [r["verdict"] for r in found["requests"]] == ["refused_rightly", "wrong"]
    gone = LLMAgent(Settings(model="tiny", base_url="http://127.0.0.1:9/v1", seconds=5.0))
    with pytest.raises(Unreachable):
        from pydantic_ai.models import override_allow_model_requests

        with override_allow_model_requests(True):
            measure(agent=gone, among=REQUESTS[:3])


def test_the_command_prints_one_object(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from embodiedsmith.bench import language

    monkeypatch.setattr(language, "requests", lambda: REQUESTS[:2])
    assert cli.main(["bench", "language", "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["agent"] == "rule"
    assert told["asked"] == len(told["requests"]) == 2
    assert cli.main(["bench", "language", "--agent", "llm", "--json"]) == 2  # no model is set
