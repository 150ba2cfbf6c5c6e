"""The report page: right numbers, escaped text, pictures and videos that are there."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import av
import pytest
from PIL import Image
from recordings import make_recording, make_scenario, release
from test_collect import STACK, make_pink_blocks_ungraspable, scene

from embodiedsmith.episodes.collect import ATTEMPTS, SPARE, collect
from embodiedsmith.episodes.forging import Forged, forge_missing, forged, scenarios_of
from embodiedsmith.episodes.report import write_report
from embodiedsmith.episodes.report_numbers import by_asset, by_skill, failures, histograms
from embodiedsmith.episodes.report_pictures import FONT, _cut
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.runtime.run import Run
from embodiedsmith.spec import Brief
from embodiedsmith.tasks import Event, Failure

EVIL = "<script>alert('x')</script> & \"more\""


def row(slot: int, **more: object) -> AttemptRow:
    values = {"slot": slot, "attempt": 3 * slot, "scenario_id": "s", "seed": 0, "outcome": "success", **more}
    return AttemptRow(**values)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run whose brief and failure message try to break the page."""
    folder = tmp_path_factory.mktemp("report") / "run"
    config = {
        "brief": EVIL, "seed": 0, "fps": 20, "embodiment": "panda", "agent": "rule", "mode": "joint", "episodes": 2,
        "scenarios": 1,
    }  # fmt: skip
    with Run.create(folder, config) as run:
        store = EpisodeStore(run)
        forge_missing(store, Brief(text="stack the blue block on the green block"), 1, budget=5, quiet=True)
        scenarios = scenarios_of(store)
        collect(store, scenarios, 2, quiet=True)
        store.commit_failure(7, 21, scenarios[0].id, Failure(code="pick.unreachable", message=EVIL))
        store.commit_failure(7, 22, scenarios[0].id, Failure(code="pick.unreachable", message="3 cm too far"))
        return write_report(store)


def test_text_is_escaped(page: Path) -> None:
    html = page.read_text("utf-8")
    assert "<script>" not in html
    assert html.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;more&#34;") == 3  # title, heading, failure


def test_everything_the_page_points_to_is_there_and_nothing_is_fetched(page: Path) -> None:
    html = page.read_text("utf-8")
    sources = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert len(sources) == 2  # one scene, one video
    assert not [source for source in sources if "//" in source]
    for source in sources:
        assert (page.parent / source).is_file()


def test_the_pictures_show_something(page: Path) -> None:
    for path in (page.parent / "scenes.png", next((page.parent / "scenes").glob("*.png"))):
        with Image.open(path) as picture:
            colors = picture.convert("RGB").getcolors(maxcolors=1 << 24)
        assert colors is not None
        assert len(colors) > 1000


def test_the_video_has_a_frame_for_each_action(page: Path) -> None:
    with Run.open(page.parents[1]) as run:
        length = next(r.length for r in EpisodeStore(run).rows(outcome="success"))
    with av.open(str(next((page.parent / "videos").glob("success-*.mp4")))) as video:
        assert sum(1 for _ in video.decode(video=0)) == length


def test_numbers_on_the_page(page: Path) -> None:
    html = page.read_text("utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))
    assert "2 verified episodes" in text
    assert "50 % yield of 4 demonstrations" in text
    assert "pick.unreachable 2" in text
    assert "1 scenario from 1 proposal" in text
    for title in ("Duration", "Energy", "Mean squared jerk"):
        assert title in text
    assert re.search(r"pick 2 2 100 %", text)
    assert re.search(r"place 2 2 100 %", text)


def test_an_asset_that_nothing_can_grasp_has_zero_yield_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_pink_blocks_ungraspable(monkeypatch)
    wide = scene(STACK, color="pink")
    config = {
        "brief": "stack", "seed": 3, "fps": 20, "embodiment": "panda", "agent": "rule", "mode": "joint", "episodes": 1,
        "scenarios": 1,
    }  # fmt: skip
    with Run.create(tmp_path / "run", config) as run:
        store = EpisodeStore(run)
        release(store, wide)
        collect(store, [wide], 1, quiet=True)
        log = json.dumps(asdict(Forged(index=0, scenario=wide.id, proposals=1)))
        run.file("scenarios", "forge-0000.jsonl").write_text(log + "\n", "utf-8")
        text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", write_report(store).read_text("utf-8")))
    assert re.search(rf"block {SPARE * ATTEMPTS} 0 0 %", text)
    assert "0 verified episodes" in text


def test_writing_it_again_keeps_pictures_and_drops_what_is_gone(page: Path) -> None:
    stray = page.parent / "videos" / "goal.timeout-9-9.mp4"
    stray.write_bytes(b"old")
    scene = next((page.parent / "scenes").glob("*.png"))
    before = scene.stat().st_mtime_ns
    with Run.open(page.parents[1], write=True) as run:
        write_report(EpisodeStore(run))
    assert not stray.exists()
    assert scene.stat().st_mtime_ns == before


def test_what_forging_remembers_reads_back(page: Path) -> None:
    with Run.open(page.parents[1]) as run:
        store = EpisodeStore(run)
        (entry,) = forged(store)
        assert entry.scenario == scenarios_of(store)[0].id
    assert entry.reading
    assert entry.proposals == 1
    assert entry.error is None
    assert entry.cost["execution"] > 0


def test_skills_are_counted_from_events() -> None:
    scenario = make_scenario()
    events = (
        Event(step=0, kind="skill_started", text="pick(mug)"),
        Event(step=4, kind="skill_failed", text="pick.slipped: it fell"),
        Event(step=4, kind="skill_started", text="pick(mug)"),
        Event(step=8, kind="skill_done", text="pick(mug)"),
        Event(step=8, kind="skill_started", text="place(mug, table)"),
    )
    recording = replace(make_recording(scenario, length=12), events=events)
    table = by_skill([(row(0, cost={"run_seconds": 6.0}), recording)], 20.0)
    assert list(table) == ["pick", "place"]
    assert (table["pick"].tried, table["pick"].done, table["pick"].rate) == (2, 1, 0.5)
    assert table["pick"].simulated == pytest.approx(8 / 20)
    assert table["pick"].wall_each == pytest.approx(4.0)
    assert table["pick"].reasons == {"pick.slipped": 1}
    assert (table["place"].tried, table["place"].done, table["place"].wall_each) == (1, 0, None)


def test_assets_are_counted_by_what_goals_name() -> None:
    scenario = make_scenario()
    rows = [row(0, scenario_id=scenario.id), row(1, scenario_id=scenario.id, outcome="failure", failure_code="pick.slipped")]
    table = by_asset(rows, {scenario.id: scenario})
    assert list(table) == ["mug"]
    assert (table["mug"].tried, table["mug"].done, table["mug"].reasons) == (2, 1, {"pick.slipped": 1})


def test_failures_keep_different_messages() -> None:
    failed = [row(k, outcome="failure", failure_code="a.b", failure={"message": f"said {k % 2}"}) for k in range(5)]
    (kind,) = failures([*failed, row(9)])
    assert (kind.code, kind.count, kind.examples) == ("a.b", 5, ("said 0", "said 1"))


def test_histograms_count_every_successful_value_once() -> None:
    rows = [row(k, scores={"duration": float(k), "energy": None}) for k in range(7)]
    rows.append(row(8, outcome="failure", failure_code="a.b", scores={"duration": 100.0}))
    (histogram,) = histograms(rows)
    assert (histogram.low, histogram.high, histogram.median, sum(histogram.counts)) == (0.0, 6.0, 3.0, 7)
    (flat,) = histograms([row(0, scores={"duration": 2.0}), row(1, scores={"duration": 2.0})])
    assert sum(flat.counts) == 2


def test_equal_scores_are_one_bar_and_say_so() -> None:
    rows = [row(k, scores={"goal_margin": 0.00499 + 1e-9 * k, "duration": 10.0 + k}) for k in range(9)]
    by_title = {histogram.title: histogram for histogram in histograms(rows)}
    equal, spread = by_title["Goal margin at the end"], by_title["Duration"]
    assert equal.low == equal.high == pytest.approx(0.00499)
    assert sorted(equal.counts)[-2:] == [0, 9]
    assert (spread.low, spread.high, sum(spread.counts)) == (10.0, 18.0, 9)


def test_a_label_is_cut_between_words() -> None:
    text = "put the red mug in the top drawer of the brown drawer unit and close it, then open the fridge and take out the milk"
    cut = _cut(text, 400)
    assert cut.endswith(" ...")
    assert text.startswith(cut.removesuffix(" ..."))
    assert FONT.getlength(cut) <= 400
    assert _cut("short", 400) == "short"
