"""Pictures of recorded episodes, rendered from their states: the same pixels whenever one asks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.episodes.staging import restage, warm_world
from embodiedsmith.spec import Scenario
from embodiedsmith.tasks import Recording
from embodiedsmith.world.render import CameraMount, WorldRenderer, camera_mount

Pixels = NDArray[np.uint8]

_OPEN_CONTEXTS = 4
"""OpenGL contexts kept open: making one takes a quarter of a second, and each holds some 50 MB."""


class Painter:
    """Renders episodes; keeps the OpenGL contexts of the last scenarios, so use it in a `with` and in one process.

    `painter.frames` and `painter.mounts` are what the dataset writers call.
    """

    def __init__(self, *, shadows: bool = False, antialias: bool = False) -> None:
        self._shadows, self._antialias = shadows, antialias
        self._renderers: OrderedDict[tuple[str, tuple[int, int]], WorldRenderer] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        while self._renderers:
            self._renderers.popitem()[1].close()

    def frames(
        self, recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int]
    ) -> Mapping[str, Pixels]:
        """RGB by camera, shape (T, height, width, 3): frame t shows state t, before action t. `size` is (width, height)."""
        return self.pictures(recording, scenario, cameras, size, rows=range(recording.length))

    def pictures(
        self, recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int], rows: Sequence[int]
    ) -> dict[str, Pixels]:
        """RGB by camera of some of the recording's T+1 states, shape (len(rows), height, width, 3)."""
        renderer = self._renderer(scenario, size)
        restage(renderer.world, recording)
        width, height = size
        out = {camera: np.empty((len(rows), height, width, 3), dtype=np.uint8) for camera in cameras}
        for k, shown in enumerate(renderer.frames(recording.states[list(rows)], tuple(cameras))):
            for camera in cameras:
                out[camera][k] = shown[camera]
        return out

    def mounts(
        self, recording: Recording, scenario: Scenario, cameras: Sequence[str], size: tuple[int, int]
    ) -> dict[str, CameraMount]:
        """What each camera is and where it was fixed in a recorded attempt; `size` is (width, height)."""
        world = warm_world(scenario)
        restage(world, recording)
        return {camera: camera_mount(world, camera, size) for camera in cameras}

    def _renderer(self, scenario: Scenario, size: tuple[int, int]) -> WorldRenderer:
        key = (scenario.id, size)
        if key not in self._renderers:
            while len(self._renderers) >= _OPEN_CONTEXTS:
                self._renderers.popitem(last=False)[1].close()
            world = warm_world(scenario)
            self._renderers[key] = WorldRenderer(world, *size, shadows=self._shadows, antialias=self._antialias)
        self._renderers.move_to_end(key)
        return self._renderers[key]
