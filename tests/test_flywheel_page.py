"""Rounds that survive a kill, the page made from them, and the live table."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import av
import pytest
from rich.console import Console
from test_collect import STACK, scene

from embodiedsmith.episodes.staging import attempt_rng, warm_world
from embodiedsmith.evaluate.intervals import rate
from embodiedsmith.flywheel.charts import Curve, bars, chart, spark
from embodiedsmith.flywheel.dashboard import Dashboard
from embodiedsmith.flywheel.page import Table, film_clip, write_page
from embodiedsmith.flywheel.rounds import FILE, RoundRow, RoundsError, append_row, read_rows, rewind
from embodiedsmith.motion import demonstrate
from embodiedsmith.tasks import Session

EVIL = "<script>alert('x')</script> & \"more\""


def row(number: int, task: str = "stack", successes: int | None = None, **more: object) -> RoundRow:
    """A round after which `successes` of 100 starts succeeded."""
    found = None if successes is None else rate(successes, 100)
    values: dict[str, object] = {
        "round": number, "task": task, "success": found, "trials": 100, "rollout_success": 0.4, "level": 1 + number,
        "collected": 50, "kept": 20 + number, "stored": 30, "quality": 0.8, "quality_threshold": 0.4, "efficiency_threshold": 0.3,
        "failures": {"slip": 3, "timeout": 7 - number}, "loss": 0.1, "lr": 3e-4, "seconds": {"collect": 3.0, "train": 2.5},
        "forgetting": {1: rate(80, 100), 1 + number: rate(60, 100)}, **more,
    }  # fmt: skip
    return RoundRow.model_validate(values)


ROWS = [row(0, successes=30, mode="cold"), row(1, successes=None), row(2, successes=75, mode="retrain")]


# ---------------------------------------------------------------------- rounds


def test_rounds_are_read_back_as_they_were(tmp_path: Path) -> None:
    assert read_rows(tmp_path) == []
    for each in ROWS:
        append_row(tmp_path, each)
    assert read_rows(tmp_path) == ROWS
    append_row(tmp_path, row(1, task="open"))
    append_row(tmp_path, row(2, task="open"))
    assert [(r.round, r.task) for r in read_rows(tmp_path)] == [
        (0, "stack"),
        (1, "stack"),
        (1, "open"),
        (2, "stack"),
        (2, "open"),
    ]


def test_a_line_cut_off_by_a_kill_is_as_if_it_had_never_been(tmp_path: Path) -> None:
    for each in ROWS[:2]:
        append_row(tmp_path, each)
    path = tmp_path / FILE
    whole = path.read_bytes()
    unfinished = ROWS[2].to_json().encode()
    for cut in (1, len(unfinished) // 2, len(unfinished)):  # the last lacks the end of its line only
        path.write_bytes(whole + unfinished[:cut])
        assert read_rows(tmp_path) == ROWS[:2]
    append_row(tmp_path, ROWS[2])
    assert read_rows(tmp_path) == ROWS
    assert path.read_bytes() == whole + unfinished + b"\n"


def test_a_round_done_again_counts_as_it_was_done_last(tmp_path: Path) -> None:
    for each in (*ROWS, row(1, successes=55)):
        append_row(tmp_path, each)
    assert [r.success and r.success.value for r in read_rows(tmp_path)] == [0.3, 0.55, 0.75]
    rewind(tmp_path, 0)
    assert read_rows(tmp_path) == ROWS[:1]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    append_row(tmp_path, ROWS[0])
    with open(tmp_path / FILE, "a") as file:
        file.write('{"round": -1, "task": ""}\n')
    append_row(tmp_path, ROWS[2])
    with pytest.raises(RoundsError, match="damaged") as caught:
        read_rows(tmp_path)
    assert caught.value.where is not None and caught.value.where.endswith(":2")
    assert {fault.partition(":")[0] for fault in caught.value.faults} == {"round", "task", "level"}


# ---------------------------------------------------------------------- page


def test_text_is_escaped_and_nothing_is_fetched(tmp_path: Path) -> None:
    evil = row(0, task=EVIL, successes=10, alarms=(EVIL,), decisions=(EVIL,), failures={EVIL: 2}, seconds={EVIL: 1.0})
    html = write_page(
        tmp_path, [evil, row(0)], title=EVIL, about={EVIL: EVIL}, tables=[Table(EVIL, EVIL, (EVIL,), ((EVIL,),))]
    ).read_text("utf-8")  # fmt: skip
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;more&#34;") >= 12
    assert not re.findall(r"(?:https?:)?//(?!www\.w3\.org)", re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL))


def test_the_page_tells_what_the_rounds_hold(tmp_path: Path) -> None:
    rows = [*ROWS, row(3, successes=90, alarms=("stall: 2 rounds kept nothing",), decisions=("level 3 to 4: 0.9 is above 0.8",))]
    html = write_page(tmp_path, rows, title="stack", about={"seed": 7}).read_text("utf-8")
    assert "30 % → <span" in html and "90 %</span></b>held-out success, rounds 0 and 3" in html
    assert "83 % to 94 %, n = 100" in html
    assert "80 %</b>success at level 1" in html
    assert "86</b>episodes kept of 200 collected" in html
    assert '<b class="bad">1</b>alarm<' in html
    assert '<li class="bad"><small>round 3</small> stall: 2 rounds kept nothing</li>' in html
    assert "level 3 to 4: 0.9 is above 0.8" in html
    table = html[html.index("<h3>Rounds") :]
    assert table.count("<tr>") == 5 and "retrain" in table and "cold" in table
    assert "All tasks" not in html
    assert "All tasks" in write_page(tmp_path, [*rows, row(0, task="open")], title="two").read_text("utf-8")
    assert "No round has ended yet" in write_page(tmp_path, [], title="nothing").read_text("utf-8")


def shapes(svg: str) -> ElementTree.Element:
    """The drawing, parsed: it must be well-formed and hold nothing that is not a number."""
    assert "nan" not in svg and "inf" not in svg and "None" not in svg
    return ElementTree.fromstring(re.sub(r"</svg>.*", "</svg>", svg, flags=re.DOTALL))


def test_curves_go_where_their_numbers_say() -> None:
    curve = Curve(name="a & b", x=[0, 1, 2, 3], y=[0.0, 0.5, None, 1.0], low=[0, 0.4, None, 0.9], high=[0.1, 0.6, None, 1.0])
    drawn = shapes(chart([curve], high=1.0))
    dots = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in drawn.findall("circle")]
    assert len(dots) == 3
    x = [dot[0] for dot in dots]
    y = [dot[1] for dot in dots]
    assert (x[2] - x[0]) == pytest.approx(3 * (x[1] - x[0]), abs=0.2)
    assert y[0] - y[1] == pytest.approx(y[1] - y[2], abs=0.2) and y[0] > y[1] > y[2]
    lines = [p for p in drawn.findall("path") if p.attrib.get("class") == "line"]
    assert len(lines) == 3  # two stretches about the gap, and the whisker of the second
    log = shapes(chart([Curve(name="n", x=[1, 4, 16], y=[1e-3, 1e-2, 1e-1])], log_x=True, log_y=True))
    steps = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in log.findall("circle")]
    assert steps[1][0] - steps[0][0] == pytest.approx(steps[2][0] - steps[1][0], abs=0.2)
    assert steps[0][1] - steps[1][1] == pytest.approx(steps[1][1] - steps[2][1], abs=0.2)


def test_bars_stack_up_to_their_sums() -> None:
    drawn = shapes(bars([0, 1], [{"a": 1.0, "b": 3.0}, {"a": 2.0}], ("a", "b")))
    tall = {r[0].text: float(r.attrib["height"]) for r in drawn.findall("rect")}
    assert tall["round 0: b 3"] == pytest.approx(3 * tall["round 0: a 1"], abs=0.2)
    assert tall["round 1: a 2"] == pytest.approx(2 * tall["round 0: a 1"], abs=0.2)
    assert len(tall) == 3


@pytest.mark.parametrize("values", [[], [None, None], [float("nan")]])
def test_nothing_to_draw_is_said(values: list[float | None]) -> None:
    assert "Nothing yet" in chart([Curve(name="x", x=range(len(values)), y=values)])
    assert "Nothing yet" in bars([0], [{}], ("a",))


def test_one_round_alone_can_be_drawn(tmp_path: Path) -> None:
    html = write_page(tmp_path, [row(0, successes=0, loss=0.0, lr=None, failures={})], title="first").read_text("utf-8")
    for svg in re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL):
        shapes(svg)


def test_clips_are_real_videos(tmp_path: Path) -> None:
    scenario = scene(STACK)
    recording = demonstrate(Session(warm_world(scenario)), attempt_rng(0, scenario.id, 0))
    clip = film_clip(tmp_path, "stack-0-best", recording, scenario, "best", quality=0.83)
    assert clip is not None and clip.success and clip.text == ""
    with av.open(str(tmp_path / clip.file)) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(frames) == recording.length
    assert frames[0].std() > 10 and abs(frames[0].astype(int) - frames[-1].astype(int)).max() > 50
    html = write_page(tmp_path, [row(0, clips=(clip,))], title="stack").read_text("utf-8")
    assert f'<video src="{clip.file}"' in html and "quality 0.83" in html


# ---------------------------------------------------------------------- dashboard


def test_a_log_gets_one_line_a_round_and_quiet_none() -> None:
    said, silent = io.StringIO(), io.StringIO()
    for stream, quiet in ((said, False), (silent, True)):
        with Dashboard("stack", 2, quiet=quiet, stream=stream) as board:
            board.stage("stack", "collecting 1/50")
            board.round(ROWS[0])
            board.round(row(1, successes=40, alarms=("stall: nothing kept",)))
    assert silent.getvalue() == ""
    assert said.getvalue().splitlines() == [
        "stack: round 0/2, success 0.300 [0.219, 0.396], level 1, kept 20/50, loss 0.1",
        "stack: round 1/2, success 0.400 [0.309, 0.498], level 2, kept 21/50, loss 0.1, ALARM stall: nothing kept",
    ]


def test_the_live_table_shows_every_task_and_what_happened() -> None:
    board = Dashboard("two tasks", 5, quiet=True)
    board.stage("open [red]the drawer", "demonstrating")
    for k, successes in enumerate((10, 50, 95)):
        board.round(row(k, successes=successes))
    board.round(row(3, alarms=("collapse",), decisions=("rolled back to round 2",)))
    board.stage("stack", "training 100/1000")
    console = Console(file=io.StringIO(), width=150, record=True)
    console.print(board)
    shown = console.export_text()
    assert "open [red]the drawer" in shown and "demonstrating" in shown and "training 100/1000" in shown
    assert "95 % (89 to 98)" in shown and "3/5" in shown and "▁▅█·" in shown
    assert "stack, round 3: collapse" in shown and "rolled back to round 2" in shown


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_the_table_and_no_lines() -> None:
    stream = _Terminal()
    with Dashboard("stack", 2, stream=stream) as board:
        board.round(ROWS[0])
    assert "held out" in stream.getvalue() and "round 0/2, success" not in stream.getvalue()


def test_spark_keeps_its_range() -> None:
    assert spark([0.0, 0.5, 1.0, None, 2.0, -1.0, float("nan")]) == "▁▅█·█▁·"
