"""Why a motion did not happen: typed, with the skill, the reason and the numbers."""

from __future__ import annotations

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.tasks.recording import Failure


class MotionError(SmithError):
    """A motion that cannot be planned or did not do what it should.

    Args:
        code: `stage.reason`, such as `pick.unreachable`, `place.blocked`, `open.slipped`.
        message: What happened, for people, in centimetres and degrees.
        subjects: Item ids or references concerned.
        value: What was measured, in SI units.
        limit: What it was compared with.
    """

    def __init__(
        self, code: str, message: str, *, subjects: tuple[str, ...] = (), value: float | None = None, limit: float | None = None
    ) -> None:
        self.code = code
        self.subjects = subjects
        self.value = value
        self.limit = limit
        super().__init__(message, where=code)

    def failure(self, *, skill: str | None = None, step: int | None = None) -> Failure:
        """As a recording keeps it."""
        return Failure(
            code=self.code, skill=skill, step=step, subjects=self.subjects, value=self.value, limit=self.limit, message=self.what
        )
