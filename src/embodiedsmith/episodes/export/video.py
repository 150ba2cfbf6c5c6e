"""Video files that hold many episodes one after the other, rolled over by size."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import av
import numpy as np

from embodiedsmith.episodes.export.selection import Pixels

Codec = Literal["h264", "av1"]

# A key frame every second frame: training reads frames in random order. One thread: the bytes must not depend on the machine.
_ENCODERS: dict[Codec, tuple[str, dict[str, str]]] = {
    "h264": ("libx264", {"g": "2", "bf": "0", "crf": "23", "preset": "veryfast", "threads": "1"}),
    "av1": ("libsvtav1", {"g": "2", "crf": "30", "preset": "12", "svtav1-params": "lp=1"}),
}


@dataclass(frozen=True)
class Span:
    """Where an episode lies in a series of video files."""

    file: int
    """Running number of the file."""
    first: int
    """Number of its first frame in that file."""
    frames: int


class VideoSeries:
    """Writes episodes of one camera, streaming; an episode is never split over two files."""

    def __init__(self, root: Path, template: str, *, fps: int, size: tuple[int, int], codec: Codec, limit: float) -> None:
        """`template` makes a file's path under `root` from `number`; `limit` is the size to roll over at [bytes]."""
        self._root, self._template = root, template
        self._fps, self._size, self._codec, self._limit = fps, size, codec, limit
        self._container: Any = None
        self._number = -1
        self._frames = self._bytes = 0

    def add(self, frames: Pixels) -> Span:
        """Append an episode, shape (T, height, width, 3)."""
        if self._container is None or self._bytes >= self._limit:
            self._open()
        first = self._frames
        for picture in frames:
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
            frame.pts, frame.time_base = self._frames, Fraction(1, self._fps)
            self._mux(frame)
            self._frames += 1
        return Span(self._number, first, len(frames))

    def close(self) -> None:
        """Finish the file being written; a second call does nothing."""
        if self._container is not None:
            self._mux(None)
            self._container.close()
            self._container = None

    def _open(self) -> None:
        self.close()
        self._number += 1
        self._frames = self._bytes = 0
        path = self._root / self._template.format(chunk=self._number // 1000, file=self._number % 1000)
        path.parent.mkdir(parents=True, exist_ok=True)
        # The AV1 encoder prints its configuration to standard error unless told otherwise before it is opened.
        os.environ.setdefault("SVT_LOG", "1")
        encoder, options = _ENCODERS[self._codec]
        self._container = av.open(str(path), "w", format="mp4")
        self._stream = self._container.add_stream(encoder, rate=self._fps, options=options)
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, self._fps)

    def _mux(self, frame: Any) -> None:
        for packet in self._stream.encode(frame):
            self._bytes += packet.size
            self._container.mux(packet)
