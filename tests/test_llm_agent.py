"""The language-model agent with scripted models: what is asked, what is refused, what becomes of an answer, what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llm_answers import SETTINGS, STACK, Model, clause, item, plan, refusal
from pydantic import ValidationError

from embodiedsmith import cli
from embodiedsmith.forge.agents import get, names
from embodiedsmith.forge.agents.llm import LLMAgent, NoAnswer, Settings
from embodiedsmith.forge.agents.llm import settings as settings_module
from embodiedsmith.forge.agents.llm.repairing import answer_type
from embodiedsmith.forge.agents.llm.schema import Answer
from embodiedsmith.forge.asked import faults as asked_faults
from embodiedsmith.forge.critics import Context, critics, review
from embodiedsmith.forge.language import CannotBe, NotUnderstood
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import All, Brief, Not, Predicate, Sequence

TEXT = "stack the blue block on the green block"
BRIEF = Brief(text=TEXT, agent="llm", seed=5)
DRAWER = "put the red mug in the top drawer and close it"
IN_DRAWER = plan(
    [item("mug", color="red", said=["category", "color"]), item("drawer_unit", parts=2)],
    clause("inside", "mug", "drawer_unit.drawer_top"),
    clause("closed", "drawer_unit.drawer_top"),
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def proposed(answer: Any, text: str = TEXT, **more: Any) -> Any:
    return LLMAgent(SETTINGS, model=Model(answer).model, **more).propose(Brief(text=text, agent="llm"), rng())


def refused(answer: Any, text: str = TEXT) -> list[str]:
    """The faults for which an answer is refused."""
    with pytest.raises(NoAnswer) as caught:
        proposed(answer, text)
    return list(caught.value.faults)


# ---------------------------------------------------------------------- settings


def test_without_a_model_nothing_begins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="no language model is set") as caught:
        get("llm")
    assert settings_module.MODEL in str(caught.value.remedy)
    run = tmp_path / "run"
    assert cli.main(["make", TEXT, "-n", "1", "--agent", "llm", "--out", str(run)]) == 2
    assert settings_module.MODEL in capsys.readouterr().err
    assert not run.exists()
    assert "llm" in names()


def test_settings_come_from_the_environment_and_every_fault_is_told() -> None:
    given = {settings_module.MODEL: "tiny", settings_module.BASE_URL: "http://me:word@127.0.0.1:8080/v1?key=1"}
    settings = Settings.from_environment(given)
    assert (settings.model, settings.endpoint) == ("tiny", "http://127.0.0.1:8080/v1")
    with pytest.raises(UsageError, match="does not say where"):
        Settings.from_environment({settings_module.MODEL: "tiny"})
    with pytest.raises(UsageError) as caught:
        Settings.from_environment({settings_module.MODEL: "a b", settings_module.BASE_URL: "ftp://there"})
    assert [fault.partition(":")[0] for fault in caught.value.faults] == [settings_module.MODEL, settings_module.BASE_URL]


def test_what_is_missing_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_module, "find_spec", lambda name: None if name == "openai" else object())
    with pytest.raises(UsageError, match="openai") as caught:
        LLMAgent(SETTINGS)
    assert caught.value.remedy == 'pip install "embodiedsmith[llm]"'


def test_a_provider_nobody_knows_is_told() -> None:
    with pytest.raises(UsageError, match="nowhere") as caught:
        LLMAgent(Settings(model="nowhere:x")).propose(BRIEF, rng())
    assert settings_module.BASE_URL in str(caught.value.remedy)


# ---------------------------------------------------------------------- the shape of answers


@pytest.mark.parametrize(
    "broken",
    [
        lambda a: a["plan"]["items"][0].update(category="elephant"),
        lambda a: a["plan"]["items"][0].update(color="infrared"),
        lambda a: a["plan"]["items"][0].update(id="../../etc/passwd"),
        lambda a: a["plan"]["items"][0].update(command="rm"),
        lambda a: a["plan"]["goal"]["parts"][0].update(predicate="exec"),
        lambda a: a["plan"]["goal"]["parts"][0].update(args=["__import__('os')"]),
        lambda a: a["plan"].update(items=a["plan"]["items"] * 13),
        lambda a: a.update(understood="x" * 5000),
        lambda a: a["plan"]["goal"].update(parts=[a["plan"]["goal"]]),
    ],
)
def test_only_names_of_the_catalogue_can_be_answered(broken: Any) -> None:
    answer = json.loads(json.dumps(STACK))
    Answer.model_validate(answer)
    broken(answer)
    with pytest.raises(ValidationError):
        Answer.model_validate(answer)


def test_every_list_and_text_of_an_answer_is_bounded() -> None:
    for schema in (Answer.model_json_schema(), answer_type(frozenset({"move", "resize", "rephrase"})).model_json_schema()):
        unbounded = []

        def look(node: Any, path: str, found: list[str] = unbounded) -> None:
            if isinstance(node, dict):
                kind = node.get("type")
                if kind == "array" and "maxItems" not in node:
                    found.append(path)
                if kind == "string" and not {"maxLength", "pattern", "enum", "const"} & node.keys():
                    found.append(path)
                for key, part in node.items():
                    look(part, f"{path}.{key}")
            elif isinstance(node, list):
                for part in node:
                    look(part, path)

        look(schema, "")
        assert unbounded == []


# ---------------------------------------------------------------------- from an answer to a draft


def test_a_draft_says_what_the_words_fix() -> None:
    draft = proposed(IN_DRAWER, DRAWER)
    task = draft.scenario.task
    assert task.goal == All(
        goals=(
            Predicate(name="inside", args=("mug", "drawer_unit.drawer_top")),
            Predicate(name="closed", args=("drawer_unit.drawer_top",)),
        )
    )
    assert task.user_text == DRAWER
    assert task.instructions["en"] == "put the red mug in the top drawer of the drawer unit and close it"
    assert draft.asked is not None
    assert [(i.item, i.categories, i.color) for i in draft.asked.items] == [
        ("mug", ("mug",), "red"),
        ("drawer_unit", ("drawer_unit",), None),
    ]
    assert draft.asked.goal == task.goal
    assert asked_faults(draft.asked, draft.scenario) == []
    assert review(Context(draft.scenario), among=[c for c in critics() if c.on_draft]).accepted


def test_what_the_goal_speaks_of_is_fixed_whatever_the_model_says() -> None:
    answer = json.loads(json.dumps(STACK))
    for thing in answer["plan"]["items"]:
        thing["said"] = []
    draft = proposed(answer)
    assert draft.asked is not None
    assert {i.item for i in draft.asked.items} == {"block_1", "block_2"}
    swapped = draft.scenario.scene.item("block_1")
    other = draft.scenario.scene.with_item(
        swapped.model_copy(update={"asset": swapped.asset.model_copy(update={"category": "mug"})})
    )
    assert asked_faults(draft.asked, draft.scenario.model_copy(update={"scene": other}))


def test_goals_nest_and_deny() -> None:
    answer = plan(
        [item("mug"), item("plate"), item("bowl")],
        clause("lifted", "mug"),
        {"how": "all", "parts": [clause("on", "mug", "plate"), clause("near", "mug", "bowl", holds=False)]},
        how="sequence",
    )
    goal = proposed(answer, "lift the mug, then put it on the plate, not near the bowl").scenario.task.goal
    assert isinstance(goal, Sequence)
    assert goal.goals[0] == Predicate(name="lifted", args=("mug",))
    assert goal.goals[1] == All(
        goals=(Predicate(name="on", args=("mug", "plate")), Not(goal=Predicate(name="near", args=("mug", "bowl"))))
    )


def test_furniture_stands_where_it_belongs_and_the_robot_drives_when_it_may() -> None:
    things = [
        item("can"),
        item("fridge", said=["category", "state"], joints=[{"joint": "door", "state": "open"}]),
        item("wall_cabinet"),
    ]
    answer = plan(things, clause("inside", "can", "fridge.board_top"), robot="panda_mobile")
    text = "the mobile panda puts the can in the open fridge"
    draft = LLMAgent(SETTINGS, model=Model(answer).model).propose(Brief(text=text, agent="llm", embodiment="any"), rng())
    scene = draft.scenario.scene
    assert (scene.item("fridge").parent, scene.item("wall_cabinet").relation, scene.setting) == (None, "attached", "kitchen")
    assert scene.item("can").parent == "surface"
    assert scene.item("fridge").joints["door"] > 0.5
    assert draft.scenario.embodiment.name == "panda_mobile"
    assert draft.asked is not None
    assert draft.asked.embodiment == "panda_mobile"


def test_every_fault_is_told_at_once() -> None:
    items = [
        item("mug", color="purple", parts=3, parent="elephant"),
        item("apple", color="purple"),
        item("robot", "plate"),
        item("drawer_unit", joints=[{"joint": "door", "state": "open"}]),
    ]
    found = "\n".join(refused(plan(items, clause("on", "mug", "robot"))))
    for part in ("'elephant' is not among", "mug has no number of parts", "purple", "'robot' is taken", "no 'door' that opens"):
        assert part in found, part


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (plan([item("mug"), item("plate")], clause("inside", "plate", "mug")), "plate"),
        (plan([item("mug")], clause("on", "mug", "ghost")), "no item 'ghost'"),
        (plan([item("mug", parent="plate"), item("plate")], clause("on", "mug", "plate")), "from the start"),
        (plan([item("mug", parent="knife"), item("knife"), item("plate")], clause("on", "mug", "plate")), "cannot carry things"),
        (
            plan([item("mug"), item("shelf")], clause("on", "mug", "shelf.board_top"), absent=["mug"]),
            "one of what is not to be there",
        ),
        (plan([item("mug"), item("plate")], clause("on", "mug", "plate"), at_least=5), "fewer than the 5 asked for"),
        (plan([item("mug"), item("plate")], clause("on", "mug", "plate"), robot="ur5e"), "the robot is panda"),
        (
            plan([item("mug"), item("plate")], clause("on", "mug", "plate"), counted=[{"group": "mug", "count": 3}]),
            "there are 1 of 'mug', not 3",
        ),
        (
            plan([item("a", "mug", parent="b"), item("b", "tray", parent="a")], clause("on", "a", "b")),
            "stands on itself",
        ),
        (plan([item("mug"), item("plate")], clause("on", "mug", "plate"), start=[clause("near", "mug", "ghost")]), "start: "),
        ({"understood": "", "problems": [], "plan": None}, "neither a plan nor a problem"),
        ({**STACK, "problems": refusal("impossible", "stack")["problems"]}, "problems and a plan"),
        (refusal("unknown", "unicorn"), "must be copied"),
        ("no JSON at all", "JSON"),
        ('{"understood": "cut o', "JSON"),
    ],
)
def test_rubbish_is_refused_with_its_reason(answer: Any, fault: str) -> None:
    assert any(fault in found for found in refused(answer)), refused(answer)


def test_faults_are_told_and_the_next_answer_is_taken(tmp_path: Path) -> None:
    wrong = plan([item("block_1", "block", color="silver"), item("block_2", "block")], clause("on", "block_1", "block_2"))
    model = Model("hm", wrong, STACK)
    agent = LLMAgent(SETTINGS, model=model.model, log=tmp_path)
    assert agent.propose(BRIEF, rng()).scenario.task.goal == Predicate(name="on", args=("block_1", "block_2"))
    assert len(model.heard) == 3
    assert "silver" in model.last
    kinds = [json.loads(line)["kind"] for line in next(tmp_path.iterdir()).read_text().splitlines()]
    assert kinds == ["question", "request", "answer", "correction", "answer", "correction", "answer", "outcome"]


def test_a_goal_that_the_words_do_not_ask_for_is_doubted_once() -> None:
    odd = plan([item("mug"), item("drawer_unit", parts=2)], clause("open", "drawer_unit.drawer_top"))
    model = Model(odd)
    draft = LLMAgent(SETTINGS, model=model.model).propose(Brief(text="lift the mug", agent="llm"), rng())
    assert len(model.heard) == 2
    assert "no word of it asks for" in model.last
    assert draft.warnings
    once = Model(odd, "rubbish", "rubbish")  # it stands by nothing better
    assert LLMAgent(SETTINGS, model=once.model).propose(Brief(text="lift the mug", agent="llm"), rng()).warnings


def test_what_cannot_be_is_refused_in_the_users_words() -> None:
    with pytest.raises(NotUnderstood) as unknown:
        proposed(refusal("unknown", "violin"), "put the violin on the plate")
    assert [word for word, _ in unknown.value.words] == ["violin"]
    with pytest.raises(CannotBe, match="a table cannot go into a mug"):
        proposed(refusal("impossible", "the table", "a table cannot go into a mug"), "put the table in the mug")


def test_seed_and_caps_reach_the_model() -> None:
    model = Model(STACK)
    agent = LLMAgent(SETTINGS, model=model.model)
    for seed in (1, 1, 2):
        agent.propose(BRIEF, rng(seed))
    first, again, other = (s["seed"] for s in model.settings)
    assert first == again != other
    assert model.settings[0]["max_tokens"] == SETTINGS.answer_tokens
    assert model.settings[0]["temperature"] == SETTINGS.temperature


def test_a_fault_of_the_check_is_not_blamed_on_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> list[str]:
        raise KeyError("a mistake of ours")

    monkeypatch.setattr("embodiedsmith.forge.agents.llm.draft.faults", broken)
    with pytest.raises(KeyError, match="of ours"):
        proposed(STACK)


def test_an_agent_works_within_an_event_loop() -> None:
    import asyncio

    async def notebook() -> str:
        return str(proposed(STACK).reading)

    assert "block" in asyncio.run(notebook())
