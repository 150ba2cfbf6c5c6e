"""The report of a run: one HTML page with its pictures and videos beside it, in the run's `report/`.

It needs nothing but a browser and no network. All text from briefs and messages is escaped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from embodiedsmith.episodes import report_numbers as numbers
from embodiedsmith.episodes.forging import Forged, forged, scenarios_of
from embodiedsmith.episodes.format import EpisodeError
from embodiedsmith.episodes.pixels import Painter
from embodiedsmith.episodes.report_pictures import Video, contact_sheet, outcome_videos, scene_pictures
from embodiedsmith.episodes.report_repairs import repaired
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.certificate import Certificate
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.spec import Scenario

PAGE = "index.html"
SHEET = "scenes.png"


@dataclass(frozen=True)
class SceneCard:
    """One scenario on the page."""

    forged: Forged
    scenario: Scenario | None
    picture: str | None
    attempts: int
    episodes: int
    witness_seconds: float | None
    critics: tuple[str, ...]


def write_report(store: EpisodeStore) -> Path:
    """Write the page of a run and give its path. Pictures and videos that are there already are not drawn again."""
    folder = store.run.path / "report"
    rows = store.rows()
    entries = forged(store)
    scenarios = scenarios_of(store)
    known = {scenario.id: scenario for scenario in scenarios}
    pictures, videos, missing = _media(store, folder, scenarios)
    content = (
        _environment()
        .from_string(_template())
        .render(
            config=store.run.config,
            versions=store.run.made_with,
            rows=rows,
            episodes=sum(row.outcome == "success" for row in rows),
            frames=sum(row.length for row in rows if row.outcome == "success"),
            wall=_wall(rows, entries),
            cards=[_card(store, entry, known, pictures, rows) for entry in entries],
            rejections=sum((Counter(entry.rejections) for entry in entries), Counter()).most_common(),
            proposals=sum(entry.proposals for entry in entries),
            repairs=repaired(folder, store, entries),
            skills=numbers.by_skill(store.episodes(), store.control_hz),
            assets=numbers.by_asset(rows, known),
            failures=numbers.failures(rows),
            histograms=numbers.histograms(rows),
            videos=videos,
            missing=missing,
            control_hz=store.control_hz,
            bars=_bars,
        )
    )
    write_atomic(folder / PAGE, content.encode("utf-8"))
    return folder / PAGE


def _media(store: EpisodeStore, folder: Path, scenarios: list[Scenario]) -> tuple[dict[str, str], list[Video], str | None]:
    """Pictures by scenario id, videos, and why there are none."""
    try:
        with storage_errors(folder), Painter() as painter:
            pictures = scene_pictures(folder, scenarios, store.run.seed)
            if pictures:
                labelled = [(folder / pictures[s.id], f"{k}: {s.task.instructions['en']}") for k, s in enumerate(scenarios)]
                contact_sheet(folder / SHEET, labelled)
            videos = outcome_videos(folder, store, {s.id: s for s in scenarios}, painter)
    except SmithError as error:  # a machine that cannot render still gets its numbers
        return {}, [], str(error)
    return pictures, videos, None


def _card(
    store: EpisodeStore, entry: Forged, known: dict[str, Scenario], pictures: dict[str, str], rows: list[AttemptRow]
) -> SceneCard:
    mine = [row for row in rows if row.scenario_id == entry.scenario]
    certificate = _certificate(store, entry.scenario)
    return SceneCard(
        forged=entry,
        scenario=known.get(entry.scenario or ""),
        picture=pictures.get(entry.scenario or ""),
        attempts=len(mine),
        episodes=sum(row.outcome == "success" for row in mine),
        witness_seconds=None if certificate is None else certificate.length / store.control_hz,
        critics=() if certificate is None else certificate.critics,
    )


def _certificate(store: EpisodeStore, scenario_id: str | None) -> Certificate | None:
    """The scenario's certificate; None without one that can be read, which `smith validate` tells about."""
    try:
        return None if scenario_id is None else store.certificate(scenario_id)
    except EpisodeError:
        return None


def _wall(rows: list[AttemptRow], entries: list[Forged]) -> dict[str, float]:
    """Seconds of wall clock by stage, over all workers."""
    total: Counter[str] = Counter()
    for entry in entries:
        total["forging"] += sum(entry.cost.values())  # type: ignore[assignment]
    for row in rows:
        total["resets"] += row.cost.get("reset_seconds", 0.0)  # type: ignore[assignment]
        total["demonstrations"] += row.cost.get("run_seconds", 0.0)  # type: ignore[assignment]
    return {name: float(seconds) for name, seconds in total.items()}


def _bars(histogram: numbers.Histogram) -> Markup:
    """A histogram as inline SVG; numbers only, so nothing in it needs escaping."""
    width, height, top = 320, 124, max(histogram.counts)
    room = height - 14  # the count stands over the tallest bar
    step = width / len(histogram.counts)
    bars = "".join(
        f'<rect x="{k * step + 1:.1f}" y="{height - room * count / top:.1f}" width="{step - 2:.1f}" '
        f'height="{room * count / top:.1f}"><title>{count}</title></rect>'
        for k, count in enumerate(histogram.counts)
        if count
    )
    tallest = (histogram.counts.index(top) + 0.5) * step
    labels = f'<text x="{min(max(tallest, 8), width - 8):.1f}" y="10" text-anchor="middle">{top}</text>'
    if histogram.low < histogram.high:
        labels += f'<text x="0" y="{height + 16}">{_plain(histogram.low)}</text>'
        labels += f'<text x="{width}" y="{height + 16}" text-anchor="end">{_plain(histogram.high)}</text>'
    middle = f"{'median' if histogram.low < histogram.high else 'all'} {_plain(histogram.median)}"
    labels += f'<text x="{width / 2}" y="{height + 16}" text-anchor="middle">{middle}</text>'
    base = f'<line x1="0" y1="{height}" x2="{width}" y2="{height}"/>'
    return Markup(f'<svg viewBox="0 0 {width} {height + 22}" role="img">{bars}{base}{labels}</svg>')


def _plain(value: float) -> str:
    """Three significant digits without an exponent where a person can read it so."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def _of(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _environment() -> Environment:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["of"] = _of
    return environment


def _template() -> str:
    return resources.files("embodiedsmith.episodes").joinpath("report.html.jinja").read_text("utf-8")
