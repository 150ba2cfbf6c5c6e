"""The page of a flywheel: one HTML file with its videos beside it, made from `rounds.jsonl` alone.

It needs nothing but a browser and no network: curves are inline SVG, there is no script, and all text is escaped. Written anew
after every round, it can be looked at while the wheel spins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from embodiedsmith.episodes.pixels import Painter
from embodiedsmith.episodes.report_pictures import film
from embodiedsmith.flywheel.charts import COLORS, Curve, bars, chart
from embodiedsmith.flywheel.levels import LEVELS
from embodiedsmith.flywheel.rounds import Clip, RoundRow, ordered
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Recording

PAGE = "index.html"
VIDEOS = "videos"
LEVELS_SHOWN = 8
"""Levels drawn in the chart of forgetting: the first, the last and some between."""
CLIPS_SHOWN = 6
"""Videos shown of a task: of its last rounds."""


@dataclass(frozen=True)
class Table:
    """More numbers for the page, such as what the forge learnt: told beside what the wheel found."""

    title: str
    about: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Plot:
    """A chart with what it shows."""

    title: str
    about: str
    svg: Markup


@dataclass(frozen=True)
class Section:
    """What the page tells about one task."""

    name: str
    rows: tuple[RoundRow, ...]
    plots: tuple[Plot, ...]
    clips: tuple[tuple[int, Clip], ...]
    """With the number of their round."""
    first: RoundRow | None
    """The first round that was evaluated."""
    last: RoundRow | None
    """The last one."""
    alarms: int
    decisions: tuple[tuple[int, str, bool], ...]
    """Round, what was said, and whether it is an alarm; the latest first."""


def write_page(
    folder: Path,
    rows: Iterable[RoundRow],
    *,
    title: str,
    about: Mapping[str, object] | None = None,
    tables: Sequence[Table] = (),
) -> Path:
    """Write `index.html` into a folder and give its path.

    Args:
        folder: Where; clips of the rows are relative to it.
        rows: The rounds so far.
        title: What the wheel is for.
        about: Settings worth showing, by name.
        tables: More to tell.
    """
    known = ordered(rows)
    sections = [_section(name, [row for row in known if row.task == name]) for name in dict.fromkeys(row.task for row in known)]
    overview = _success_of_all(sections) if len(sections) > 1 else None
    content = _template().render(
        title=title, about=about or {}, tables=tables, sections=sections, overview=overview, levels=LEVELS
    )
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / PAGE, content.encode("utf-8"))
    return folder / PAGE


def film_clip(
    folder: Path,
    name: str,
    recording: Recording,
    scenario: Scenario,
    which: Literal["best", "worst"],
    *,
    quality: float | None = None,
    painter: Painter | None = None,
) -> Clip | None:
    """Render an episode from its states into the page's folder as MP4; None where there is nothing to see or nothing renders.

    A video that is there already is left as it is: the same episode gives the same pictures.
    """
    if recording.length == 0:
        return None
    file = f"{VIDEOS}/{name}.mp4"
    path = folder / file
    if not path.exists():
        try:
            with storage_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            if painter is not None:
                film(path, recording, scenario, painter)
            else:
                with Painter() as own:
                    film(path, recording, scenario, own)
        except SmithError:  # a machine that cannot render still gets its numbers
            return None
    text = "" if recording.failure is None else f"{recording.failure.code}: {recording.failure.message}"
    return Clip(file=file, which=which, success=recording.outcome == "success", quality=quality, text=text)


def _section(name: str, rows: Sequence[RoundRow]) -> Section:
    evaluated = [row for row in rows if row.success is not None]
    clips = [(row.round, clip) for row in reversed(rows) for clip in row.clips]
    return Section(
        name=name,
        rows=tuple(rows),
        plots=tuple(make(rows) for make in _PLOTS),
        clips=tuple(clips[:CLIPS_SHOWN]),
        first=evaluated[0] if evaluated else None,
        last=evaluated[-1] if evaluated else None,
        alarms=sum(len(row.alarms) for row in rows),
        decisions=tuple(
            (row.round, text, alarm)
            for row in reversed(rows)
            for said, alarm in ((row.alarms, True), (row.decisions, False))
            for text in said
        ),
    )


def _success_of_all(sections: Sequence[Section]) -> Markup:
    return chart([_held_out(section.rows, section.name, k) for k, section in enumerate(sections)], high=1.0)


def _held_out(rows: Sequence[RoundRow], name: str, color: int = 0) -> Curve:
    shown = [row.success for row in rows]
    return Curve(
        name=name, x=[row.round for row in rows], y=[None if s is None else s.value for s in shown], color=color,
        low=[None if s is None else s.low for s in shown], high=[None if s is None else s.high for s in shown],
    )  # fmt: skip


def _success(rows: Sequence[RoundRow]) -> Plot:
    rollout = Curve(
        name="while collecting", x=[r.round for r in rows], y=[r.rollout_success for r in rows], color=1, dashed=True
    )  # fmt: skip
    return Plot(
        "Success",
        "On the held-out suite with its 95 % interval; and while collecting, with exploration noise at the round's level.",
        chart([_held_out(rows, "held out"), rollout], high=1.0),
    )


def _level(rows: Sequence[RoundRow]) -> Plot:
    curve = Curve(name="level", x=[r.round for r in rows], y=[r.level for r in rows], color=2, stepped=True)
    return Plot(
        "Level",
        "Difficulty at which was collected.",
        chart([curve], low=0.0, high=float(LEVELS), y_ticks=range(0, LEVELS + 1, 2)),
    )


def _data(rows: Sequence[RoundRow]) -> Plot:
    parts = [{"kept": row.kept, "filtered out": max(row.collected - row.kept, 0)} for row in rows]
    return Plot(
        "Episodes", "Collected in the round, and how many of them passed the filter.",
        bars([r.round for r in rows], parts, ("kept", "filtered out"), (0, 7)),
    )  # fmt: skip


def _thresholds(rows: Sequence[RoundRow]) -> Plot:
    x = [row.round for row in rows]
    curves = [
        Curve(name="quality threshold", x=x, y=[r.quality_threshold for r in rows], color=3, stepped=True, dashed=True),
        Curve(name="efficiency threshold", x=x, y=[r.efficiency_threshold for r in rows], color=4, stepped=True, dashed=True),
        Curve(name="quality of what was kept", x=x, y=[r.quality for r in rows], color=0),
    ]
    return Plot("Thresholds", "What an episode had to reach to be kept.", chart(curves, high=1.0))


def _failures(rows: Sequence[RoundRow]) -> Plot:
    total = Counter[str]()
    for row in rows:
        total.update(row.failures)
    names = [name for name, _ in total.most_common()]
    shown, rest = names[: COLORS - 1], names[COLORS - 1 :]
    parts = []
    for row in rows:
        part = {name: float(row.failures.get(name, 0)) for name in shown}
        parts.append(part | ({"other": float(sum(row.failures.get(name, 0) for name in rest))} if rest else {}))
    return Plot(
        "Failures", "Episodes collected that failed, by class.",
        bars([r.round for r in rows], parts, [*shown, *(["other"] if rest else [])]),
    )  # fmt: skip


def _forgetting(rows: Sequence[RoundRow]) -> Plot:
    levels = sorted({level for row in rows for level in row.forgetting})
    if len(levels) > LEVELS_SHOWN:
        levels = [levels[round(k * (len(levels) - 1) / (LEVELS_SHOWN - 1))] for k in range(LEVELS_SHOWN)]
    curves = []
    for k, level in enumerate(levels):
        found = [row.forgetting.get(level) for row in rows]
        curves.append(
            Curve(name=f"level {level}", x=[r.round for r in rows], y=[None if f is None else f.value for f in found], color=k)
        )
    return Plot("Forgetting", "Held-out success by level: an earlier level that falls was forgotten.", chart(curves, high=1.0))


def _training(rows: Sequence[RoundRow]) -> Plot:
    x = [row.round for row in rows]
    curves = [
        Curve(name="loss", x=x, y=[r.loss for r in rows], color=0),
        Curve(name="learning rate at first", x=x, y=[r.lr for r in rows], color=5, dashed=True),
    ]
    return Plot("Training", "Loss at the end of each round, on a logarithmic scale.", chart(curves, log_y=True))


def _seconds(rows: Sequence[RoundRow]) -> Plot:
    names = sorted({name for row in rows for name in row.seconds})
    return Plot(
        "Time", "Seconds of wall clock by stage.", bars([r.round for r in rows], [r.seconds for r in rows], names, unit=" s")
    )


_PLOTS: tuple[Callable[[Sequence[RoundRow]], Plot], ...] = (
    _success, _level, _data, _thresholds, _failures, _forgetting, _training, _seconds,
)  # fmt: skip


def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["share"] = lambda value: "–" if value is None else f"{100 * value:.0f} %"
    environment.filters["short"] = lambda value: "–" if value is None else f"{value:.3g}"
    return environment.from_string(resources.files("embodiedsmith.flywheel").joinpath("page.html.jinja").read_text("utf-8"))
