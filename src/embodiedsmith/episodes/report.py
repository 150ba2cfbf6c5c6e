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
from embodiedsmith.episodes.pixels import Painter
from embodiedsmith.episodes.report_pictures import Video, contact_sheet, outcome_videos, scene_pictures
from embodiedsmith.episodes.store import EpisodeStore
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
                labelled = [(folder / file, f"{k}: {identity}") for k, (identity, file) in enumerate(pictures.items())]
                contact_sheet(folder / SHEET, labelled)
            videos = outcome_videos(folder, store, {s.id: s for s in scenarios}, painter)
    except SmithError as error:  # a machine that cannot render still gets its numbers
        return {}, [], str(error)
    return pictures, videos, None


def _card(
    store: EpisodeStore, entry: Forged, known: dict[str, Scenario], pictures: dict[str, str], rows: list[AttemptRow]
) -> SceneCard:
    mine = [row for row in rows if row.scenario_id == entry.scenario]
    certificate = store.certificate(entry.scenario) if entry.scenario is not None else None
    return SceneCard(
        forged=entry,
        scenario=known.get(entry.scenario or ""),
        picture=pictures.get(entry.scenario or ""),
        attempts=len(mine),
        episodes=sum(row.outcome == "success" for row in mine),
        witness_seconds=None if certificate is None else certificate["length"] / store.control_hz,
        critics=() if certificate is None else tuple(certificate["critics"]),
    )


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
    width, height, top = 320, 110, max(histogram.counts)
    step = width / len(histogram.counts)
    bars = "".join(
        f'<rect x="{k * step + 1:.1f}" y="{height - height * count / top:.1f}" width="{step - 2:.1f}" '
        f'height="{height * count / top:.1f}"><title>{count}</title></rect>'
        for k, count in enumerate(histogram.counts)
        if count
    )
    labels = f'<text x="0" y="{height + 16}">{histogram.low:.3g}</text>'
    labels += f'<text x="{width / 2}" y="{height + 16}" text-anchor="middle">median {histogram.median:.3g}</text>'
    labels += f'<text x="{width}" y="{height + 16}" text-anchor="end">{histogram.high:.3g}</text>'
    base = f'<line x1="0" y1="{height}" x2="{width}" y2="{height}"/>'
    return Markup(f'<svg viewBox="0 0 {width} {height + 22}" role="img">{bars}{base}{labels}</svg>')


def _environment() -> Environment:
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _template() -> str:
    return resources.files("embodiedsmith.episodes").joinpath("report.html.jinja").read_text("utf-8")
