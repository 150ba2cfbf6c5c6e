"""Novelty: in autonomous mode, is a scenario far enough from what the archive has? Costs nothing, so it judges the draft."""

from __future__ import annotations

from collections.abc import Mapping

from embodiedsmith.forge.auto.archive import NEAR, Archive
from embodiedsmith.forge.critics.base import Context
from embodiedsmith.spec import EditKind, Finding


class NoveltyCritic:
    """Compares what a scenario is about with an archive; without one it finds nothing."""

    name = "novelty"
    tier = 8
    on_draft = True
    codes: Mapping[str, tuple[EditKind, ...]] = {"novelty.duplicate": ("swap_asset", "add", "remove", "change_support")}

    def __init__(self, archive: Archive | None = None) -> None:
        self.archive = archive

    def review(self, context: Context) -> list[Finding]:
        """One finding when an entry is nearer than `NEAR`."""
        near = None if self.archive is None else self.archive.nearest(context.scenario)
        if near is None or near[1] >= NEAR:
            return []
        entry, apart = near
        return [
            Finding(
                code="novelty.duplicate", subjects=tuple(item.id for item in context.scenario.scene.items), value=apart,
                limit=NEAR, message=f"is much like scenario {entry.index} ('{entry.instruction}'): {apart:.2f} apart of {NEAR:g}",
            )
        ]  # fmt: skip


CRITIC = NoveltyCritic()
