"""What can go wrong while laying a scene out."""

from __future__ import annotations

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import Finding


class LayoutError(SmithError):
    """No place was found for everything; `findings` says for what, and by how many centimetres."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        super().__init__(
            "the scene cannot be laid out",
            faults=[f.message for f in findings],
            remedy="ask for fewer or smaller things, or for a larger support",
        )
