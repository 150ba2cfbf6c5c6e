"""`smith export`, `validate` and `report`: what becomes of episodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from embodiedsmith.cli.common import Command, Flag, Outcome

Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]


@dataclass(frozen=True, kw_only=True)
class Export(Command):
    """Write a run's episodes as a dataset; pictures are rendered now, from the stored states."""

    folder: Folder
    """The run's folder."""
    format: Literal["lerobot", "robomimic"] = "lerobot"
    """LeRobot v3.0 (a folder of parquet and mp4 files) or robomimic (one HDF5 file)."""
    out: Path | None = None
    """Where to; the run's own `exports/` when not given."""
    cameras: tuple[str, ...] | None = None
    """Cameras; those the run was made with when not given."""
    no_cameras: Flag = False
    """No pictures: states, actions and observations only."""
    size: int | None = None
    """Width and height of the pictures [pixels]; what the run was made with when not given."""
    keep: Literal["success", "all"] = "success"
    """`all` adds failed attempts, each with its reason."""
    codec: Literal["h264", "av1"] = "h264"
    """Video compression (LeRobot only)."""
    language: Literal["en", "zh", "user"] = "en"
    """Language of the task text; `user` is what was typed."""
    episodes: tuple[int, ...] | None = None
    """Only these episodes (slot numbers)."""
    points: Flag = False
    """Also where the points of cloth, soft bodies, ropes, grains and liquids are, as observations `points.<item>`."""

    def run(self) -> Outcome:
        """Export it."""
        from embodiedsmith import api

        made = api.export(
            self.folder,
            format=self.format,
            out=self.out,
            cameras=() if self.no_cameras else self.cameras,
            size=self.size,
            keep=self.keep,
            codec=self.codec,
            language=self.language,
            episodes=self.episodes,
            points=self.points,
            seed=self.seed,
            quiet=self.quiet,
        )
        lines = [f"left out: {text}" for text in made.skipped]
        state = "" if made.written else " (was there already)"
        lines.append(
            f"{made.path}: {made.episodes} episodes, {made.frames} frames, cameras {', '.join(made.cameras) or 'none'}{state}"
        )
        data = {
            "dataset": str(made.path), "format": self.format, "episodes": made.episodes, "frames": made.frames,
            "cameras": list(made.cameras), "skipped": list(made.skipped), "written": made.written,
        }  # fmt: skip
        return Outcome(text="\n".join(lines), data=data)


@dataclass(frozen=True, kw_only=True)
class Validate(Command):
    """Verify a run (checksums, index, shapes, time, alignment, replay) or a LeRobot dataset; names the faulty episode."""

    path: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PATH")]
    """A run's folder or a dataset's."""
    no_replay: Flag = False
    """Do not repeat the episodes in physics."""

    def run(self) -> Outcome:
        """Verify it."""
        from embodiedsmith import api

        findings = api.validate(self.path, replay=not self.no_replay, seed=self.seed)
        errors = [finding for finding in findings if finding.severity == "error"]
        lines = [f"{f.severity}: {f.code}: {f.message}" for f in findings]
        lines.append(
            f"{self.path}: {len(errors)} errors, {len(findings) - len(errors)} warnings" if findings else f"{self.path}: sound"
        )
        data = {"ok": not errors, "path": str(self.path), "findings": [f.model_dump(mode="json") for f in findings]}
        return Outcome(text="\n".join(lines), data=data, exit_code=1 if errors else 0)


@dataclass(frozen=True, kw_only=True)
class Report(Command):
    """Write the run's page: what was asked, scenes, yields, costs, failures, quality, one video per outcome."""

    folder: Folder
    """The run's folder."""

    def run(self) -> Outcome:
        """Write it."""
        from embodiedsmith import api

        page = api.report(self.folder, seed=self.seed)
        return Outcome(text=str(page), data={"report": str(page)})
