"""`smith doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embodiedsmith.cli.common import Command, Outcome


@dataclass(frozen=True, kw_only=True)
class Doctor(Command):
    """Say what works on this machine and what to do about the rest; exit 1 when `smith make` cannot run."""

    out: Path = Path()
    """Folder where runs will be written: its disk is looked at."""

    def run(self) -> Outcome:
        """Look at everything."""
        from embodiedsmith.doctor import diagnose, healthy

        checks = diagnose(self.out)
        width = max(len(check.name) for check in checks)
        lines = []
        for check in checks:
            mark = "ok  " if check.ok else "FAIL" if check.needed else "warn"
            lines.append(f"{mark}  {check.name:<{width}}  {check.detail}")
            if not check.ok and check.remedy:
                lines.append(f"      {'':<{width}}  remedy: {check.remedy}")
        well = healthy(checks)
        lines.append("`smith make` can run here." if well else "`smith make` cannot run here until the FAIL lines are cured.")
        data = {"ok": well, "checks": [check.to_json() for check in checks]}
        return Outcome(text="\n".join(lines), data=data, exit_code=0 if well else 1)
