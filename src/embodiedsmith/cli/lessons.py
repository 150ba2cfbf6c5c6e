"""`smith lessons`: what repairs have taught so far."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from embodiedsmith.cli.common import Command, Outcome


@dataclass(frozen=True, kw_only=True)
class Lessons(Command):
    """Which edits cured which findings so far, and at what cost: the order in which the forge tries them.

    Kept across runs in `lessons.json` in EMBODIEDSMITH_HOME, or else in the user's data folder.
    """

    file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = None
    """A file of lessons, such as a run's `lessons.json`; those kept across runs when not given."""

    def run(self) -> Outcome:
        """Show them."""
        from embodiedsmith import api

        shown = api.lessons(self.file)
        lines = []
        for context, kinds in shown["records"].items():
            lines.append(context)
            lines += [
                f"  {kind:<18} cured {record['cured']} of {record['tried']}, {record['units'] / record['tried']:.1f} units a try"
                for kind, record in kinds.items()
            ]
        lines = lines or ["nothing learnt yet: `smith make` and `smith forge` add to it"]
        return Outcome(text="\n".join([*lines, f"kept in {shown['file']}"]), data=shown)
