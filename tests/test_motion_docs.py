"""The code of docs/adding-a-skill.md runs and does what the page says."""

import re
from pathlib import Path

import numpy as np
import pytest
from test_motion_skills import bare, on_table

from embodiedsmith.motion import demonstrator, symbolic
from embodiedsmith.motion.operators import FACTS
from embodiedsmith.motion.skills import Skill, skills
from embodiedsmith.spec import Predicate
from embodiedsmith.world import World

PAGE = Path(__file__).parent.parent / "docs" / "adding-a-skill.md"


def test_the_page_adds_a_skill(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file, use, test = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    goal = Predicate(name="inside", args=("apple", "basket"))
    world = World(bare(goal, on_table("apple", 0.45, 0.25), on_table("basket", 0.55, -0.15)))
    world.reset(np.random.default_rng(0))
    names: dict[str, object] = {"world": world, "skills": skills, "__name__": "page"}
    exec(compile(file, "drop.py", "exec", dont_inherit=True), names)
    skill = names["SKILL"]
    assert isinstance(skill, Skill)
    for fact in (*skill.operators[0].needs, *skill.operators[0].adds, *skill.operators[0].removes):
        assert len(fact) == 1 + len(FACTS[fact[0]])
    known = {name: one for name, one in skills().items() if name != "place"} | {skill.name: skill}  # the only way to put down
    for module in (symbolic, demonstrator):
        monkeypatch.setattr(module, "skills", lambda: known)
    symbolic.search.cache_clear()
    try:
        exec(compile(use, str(PAGE), "exec", dont_inherit=True), names)
        plan, outcome = capsys.readouterr().out.splitlines()
        assert plan == "pick(apple, table.top), drop(apple, basket.inside)"
        assert re.fullmatch(r"success \d+ s", outcome)
        exec(compile(test, str(PAGE), "exec", dont_inherit=True), names)
        names["test_what_is_dropped_ends_in_the_basket"]()  # type: ignore[operator]
    finally:
        symbolic.search.cache_clear()
