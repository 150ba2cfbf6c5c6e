"""The flywheel live on a terminal: a table of tasks with a curve each; one plain line a round in a log; nothing when quiet."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from embodiedsmith.flywheel.charts import spark
from embodiedsmith.flywheel.rounds import RoundRow

SPARK = 24
"""Rounds of which the curve is shown."""
EVENTS = 6
"""Latest alarms and decisions shown."""
WIDE = 110
"""Columns of a terminal that sees everything."""


class Dashboard:
    """Shows how the wheel spins. Everything goes to `stream` (standard error), so that standard output stays for results.

    Args:
        title: What the wheel is for.
        rounds: How many rounds are asked for, the cold start not counted.
        quiet: Show nothing.
        stream: Where to; None: standard error.
    """

    def __init__(self, title: str, rounds: int, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._title, self._rounds, self._quiet = title, rounds, quiet
        self._stream = sys.stderr if stream is None else stream
        self._rows: dict[str, list[RoundRow]] = {}
        self._doing: dict[str, str] = {}
        self._events: list[tuple[str, int, str, bool]] = []
        self._began = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        if not self._quiet and self._stream.isatty():
            self._live = Live(console=Console(file=self._stream), get_renderable=lambda: self, refresh_per_second=2)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._doing.clear()
        if self._live is not None:
            self._live.stop()

    def stage(self, task: str, what: str) -> None:
        """Say what is being done for a task: "collecting 40/192". Shown on a terminal only: a log has lines of rounds."""
        self._rows.setdefault(task, [])
        self._doing[task] = what

    def round(self, row: RoundRow) -> None:
        """A round of a task has ended."""
        self._rows.setdefault(row.task, []).append(row)
        self._doing.pop(row.task, None)
        self._events += [(row.task, row.round, text, True) for text in row.alarms]
        self._events += [(row.task, row.round, text, False) for text in row.decisions]
        if self._live is None and not self._quiet:
            print(self._line(row), file=self._stream, flush=True)

    def _line(self, row: RoundRow) -> str:
        parts = [f"round {row.round}/{self._rounds}"]
        parts += [f"success {row.success}"] if row.success is not None else []
        parts += [f"level {row.level}", f"kept {row.kept}/{row.collected}"]
        parts += [f"loss {row.loss:.3g}"] if row.loss is not None else []
        parts += [f"ALARM {text}" for text in row.alarms]
        return f"{row.task}: {', '.join(parts)}"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """What is shown now; a narrow terminal sees fewer columns."""
        wide = options.max_width >= WIDE
        minutes, seconds = divmod(round(time.monotonic() - self._began), 60)
        table = Table(title=Text(f"{self._title}   {minutes} min {seconds:02d} s"), title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("task", min_width=16, overflow="fold")
        for name in ("round", "held out", "success", "level", "kept", *(("stored", "keep from") if wide else ())):
            table.add_column(name, justify="left" if name == "success" else "right", no_wrap=True)
        for task, rows in self._rows.items():
            table.add_row(*self._cells(task, rows, wide))
        yield table
        for task, what in self._doing.items():
            yield Text(f"{task}: ", style="dim").append(what, style="not dim cyan")
        for task, number, text, alarm in self._events[-EVENTS:]:
            about = f"round {number}: " if len(self._rows) == 1 else f"{task}, round {number}: "
            yield Text(about, style="dim").append(text, style="not dim bold red" if alarm else "not dim")

    def _cells(self, task: str, rows: list[RoundRow], wide: bool) -> list[Text]:
        if not rows:
            return [Text(task)]
        last = rows[-1]
        curve = spark([None if row.success is None else row.success.value for row in rows[-(SPARK if wide else SPARK // 2) :]])
        found = next((row.success for row in reversed(rows) if row.success is not None), None)
        interval = "" if found is None else f"{100 * found.value:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"
        cells = [
            Text(task),
            Text(f"{last.round}/{self._rounds}"),
            Text(interval, style="bold"),
            Text(curve, style="green"),
            Text(str(last.level)),
            Text(f"{last.kept}/{last.collected}"),
        ]
        thresholds = [last.quality_threshold, last.efficiency_threshold]
        least = ", ".join("–" if value is None else f"{value:.2f}" for value in thresholds)
        return [*cells, Text(str(last.stored)), Text(least)] if wide else cells
