"""The pictures and videos of a run's report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from embodiedsmith.episodes.export.video import VideoSeries
from embodiedsmith.episodes.pixels import Painter, Pixels
from embodiedsmith.episodes.staging import warm_world
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.files import PART
from embodiedsmith.runtime.index import AttemptRow
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Recording
from embodiedsmith.world import CONTROL_HZ
from embodiedsmith.world.render import WorldRenderer, camera_names

PICTURE = (400, 300)
"""Width and height of one view of a scene; two stand side by side [pixels]."""
VIDEO = (400, 300)
"""Width and height of one view of a video; two stand side by side [pixels]."""
MOST_VIDEOS = 9
MOST_PICTURES = 40
"""Scenes on the contact sheet: a thousand would be a picture nothing opens."""
FONT = ImageFont.load_default(size=14)


@dataclass(frozen=True)
class Video:
    """A video of one attempt, standing for all with that outcome."""

    outcome: str
    file: str
    """Relative to the report's folder."""
    slot: int
    attempt: int
    message: str


def scene_pictures(folder: Path, scenarios: Sequence[Scenario], seed: int) -> dict[str, str]:
    """Draw each scenario as it stands at its start; file name relative to `folder` by scenario id. One there is kept."""
    (folder / "scenes").mkdir(exist_ok=True)
    files = {}
    for scenario in scenarios:
        files[scenario.id] = f"scenes/{scenario.id}.png"
        path = folder / files[scenario.id]
        if path.exists():
            continue
        world = warm_world(scenario)
        world.reset(generator(seed, scenario.id, "picture"))
        with WorldRenderer(world, *PICTURE, shadows=True, antialias=True) as renderer:
            views = [renderer.rgb(view) for view in _views(scenario)]
        _save(Image.fromarray(np.concatenate(views, axis=1)), path)
    return files


def contact_sheet(path: Path, pictures: Sequence[tuple[Path, str]], columns: int = 2) -> None:
    """Put labelled pictures of one size beside and below each other in one PNG, at most `MOST_PICTURES` of them."""
    pictures = pictures[:MOST_PICTURES]
    columns = min(columns, len(pictures))
    width, height, label = 560, 210, 22
    sheet = Image.new("RGB", (columns * width, math.ceil(len(pictures) / columns) * (height + label)), "white")
    draw = ImageDraw.Draw(sheet)
    for k, (file, text) in enumerate(pictures):
        x, y = (k % columns) * width, (k // columns) * (height + label)
        with Image.open(file) as picture:
            sheet.paste(picture.resize((width, height)), (x, y))
        draw.text((x + 6, y + height + 3), _cut(text, width - 12), fill="black", font=FONT)
    _save(sheet, path)


def _cut(text: str, width: float) -> str:
    """As much of a text as fits into a width [pixels]."""
    if FONT.getlength(text) <= width:
        return text
    while text and FONT.getlength(text + " ...") > width:
        text = text.rpartition(" ")[0]
    return text + " ..."


def outcome_videos(folder: Path, store: EpisodeStore, scenarios: Mapping[str, Scenario], painter: Painter) -> list[Video]:
    """One video for success and one for each failure code, the first attempt of each; one there is kept, others are removed."""
    place = folder / "videos"
    place.mkdir(exist_ok=True)
    chosen: dict[str, AttemptRow] = {}
    for row in store.rows():
        if row.file is not None and row.length > 0 and row.scenario_id in scenarios:
            chosen.setdefault(row.failure_code or "success", row)
    videos = []
    for outcome, row in sorted(chosen.items(), key=lambda item: (item[0] != "success", item[0]))[:MOST_VIDEOS]:
        name = f"{outcome}-{row.slot}-{row.attempt}.mp4"
        if not (place / name).exists():
            film(place / name, store.load(row), scenarios[row.scenario_id], painter)
        message = "" if row.failure is None else str(row.failure.get("message", ""))
        videos.append(Video(outcome, f"videos/{name}", row.slot, row.attempt, message))
    kept = {video.file.rpartition("/")[2] for video in videos}
    for old in place.iterdir():
        if old.name not in kept:
            old.unlink()
    return videos


def film(path: Path, recording: Recording, scenario: Scenario, painter: Painter) -> None:
    """Write a video of an episode, two views side by side; there whole or not at all."""
    views = _views(scenario)
    shown = painter.frames(recording, scenario, views, VIDEO)
    frames: Pixels = np.concatenate([shown[view] for view in views], axis=2)
    size = (frames.shape[2], frames.shape[1])
    part = path.name + PART
    series = VideoSeries(path.parent, part, fps=CONTROL_HZ, size=size, codec="h264", limit=math.inf)
    series.add(frames)
    series.close()
    (path.parent / part).rename(path)


def _views(scenario: Scenario) -> tuple[str, ...]:
    return camera_names(warm_world(scenario))[:2]


def _save(image: Image.Image, path: Path) -> None:
    part = path.with_name(path.name + PART)
    image.save(part, format="PNG")
    part.rename(path)
