"""The code of docs/adding-a-predicate.md runs and does what the page says."""

import re
from pathlib import Path

import pytest
from task_worlds import STILL, kitchen, p

from embodiedsmith.tasks import registry
from embodiedsmith.world import World

PAGE = Path(__file__).parent.parent / "docs" / "adding-a-predicate.md"


def test_the_page_adds_a_predicate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file, use, test = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    world = World(kitchen(p("on", "block", "table"), randomization=STILL))
    names: dict[str, object] = {"world": world, "__name__": "page"}
    exec(compile(file, "above.py", "exec", dont_inherit=True), names)
    known = registry.collect({"above": names["PREDICATE"], **registry._known()})
    monkeypatch.setattr(registry, "_known", lambda: known)
    exec(compile(use, str(PAGE), "exec", dont_inherit=True), names)
    margin, english, chinese = capsys.readouterr().out.splitlines()
    assert float(margin) == pytest.approx(
        world.data.xipos[world.items["mug"].body][2] - world.data.xipos[world.items["block"].body][2] - 0.1
    )
    assert english == "hold the red mug above the red block"
    assert chinese == "不要让红色的马克杯高过红色的积木"
    exec(compile(test, str(PAGE), "exec", dont_inherit=True), names)
    names["test_above_is_the_height_difference"]()  # type: ignore[operator]
    names["test_above_sees_through_its_near_misses"]()  # type: ignore[operator]
