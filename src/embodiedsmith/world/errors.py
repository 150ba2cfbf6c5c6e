"""What can go wrong with a world."""

from __future__ import annotations

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import Finding


class CompileError(SmithError):
    """The scenario cannot become a world; `faults` lists every reason."""


class SettleError(SmithError):
    """The world does not come to rest; `findings` says what moves, how fast, and what was allowed."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        super().__init__(
            "the scene does not settle",
            faults=[f.message for f in findings],
            remedy="1. lay the scene out again; 2. check that the items named fit their supports; 3. report the asset",
        )


class WorldFault(SmithError):
    """The simulation went bad at a control step: the episode ends here and reaches no dataset.

    `code` is `world.bad_action`, `world.engine_warning`, `world.not_finite`, `world.clock` or `world.fall`.
    """

    def __init__(self, code: str, message: str, *, value: float | None = None, limit: float | None = None) -> None:
        self.code = code
        self.value = value
        self.limit = limit
        super().__init__(message, where=code)
