"""How far the work is: a live line on a terminal, a plain line now and then in a log, nothing when quiet."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

PLAIN_INTERVAL = 15.0
"""Least time between two plain lines [s]."""


class Progress:
    """Progress towards `total` accepted results; attempts that fail count for the yield only.

    Everything goes to `stream` (standard error), so that standard output stays for results.
    """

    def __init__(
        self,
        title: str,
        total: int,
        *,
        done: int = 0,
        trials: bool = True,
        quiet: bool = False,
        stream: TextIO | None = None,
    ) -> None:
        """`done` results were there before (a resumed run): they count for the bar and not for rate and yield.

        `trials`: attempts can fail, so that a yield is worth saying.
        """
        self._trials = trials
        self._title, self._total, self._before = title, total, done
        self._quiet = quiet
        self._stream = sys.stderr if stream is None else stream
        self._accepted = self._attempts = 0
        self._note = ""
        self._started = self._printed = time.monotonic()
        self._rich: RichProgress | None = None

    def __enter__(self) -> Self:
        self._started = self._printed = time.monotonic()
        if not self._quiet and self._stream.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[state]}"),
            )
            self._rich = RichProgress(*columns, console=Console(file=self._stream), transient=False)
            self._rich.start()
            self._task = self._rich.add_task(self._title, total=self._total, completed=self._before, state="")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._rich is not None:
            self._rich.stop()
        elif not self._quiet:
            self._print()

    def update(self, accepted: bool, note: str = "") -> None:
        """Count one attempt; `note` says what is going on, in a few words."""
        self._attempts += 1
        self._accepted += accepted
        self._note = note
        if self._rich is not None:
            self._rich.update(self._task, completed=self._before + self._accepted, state=self.state())
        elif not self._quiet and time.monotonic() - self._printed >= PLAIN_INTERVAL:
            self._print()

    def state(self) -> str:
        """Rate, yield and remaining time in words, from the attempts counted so far."""
        if self._attempts == 0:
            return self._note
        elapsed = max(time.monotonic() - self._started, 1e-6)
        words = [f"{3600 * self._accepted / elapsed:.0f}/h"]
        if self._trials:
            words.append(f"yield {100 * self._accepted / self._attempts:.0f} %")
        left = self._total - self._before - self._accepted
        if self._accepted and left > 0:
            words.append(f"{_duration(left * elapsed / self._accepted)} left")
        return ", ".join(words + ([self._note] if self._note else []))

    def _print(self) -> None:
        self._printed = time.monotonic()
        state = self.state()
        said = f" ({state})" if state else ""
        print(f"{self._title}: {self._before + self._accepted}/{self._total}{said}", file=self._stream, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
