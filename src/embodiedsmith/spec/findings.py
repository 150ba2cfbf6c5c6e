"""What a critic finds: a fault, measured, with the kinds of edit that could cure it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from embodiedsmith.spec.base import Noun
from embodiedsmith.spec.edits import EditKind

Severity = Literal["warning", "error"]


class Finding(Noun):
    """One fault, measured: what, which things, how much, against which limit."""

    code: str = Field(pattern=r"^[a-z_]+(\.[a-z_]+)+$")
    """`critic.fault`, such as `geometry.overlap`."""
    severity: Severity = "error"
    subjects: tuple[str, ...] = ()
    """Item ids, `item.part` references or joint names concerned; `robot` for the robot."""
    value: float | None = None
    """What was measured, in `unit`."""
    limit: float | None = None
    """What it was compared with, in `unit`."""
    unit: str = ""
    message: str
    cures: tuple[EditKind, ...] = ()
    """Kinds of edit that could cure it, the likeliest first."""
