"""Rows on disk: features and actions of many episodes one after the other, two files of plain float32 that are mapped to be read.

A shard is written once and never changed. It is there when its files have their names; what a kill leaves of one has others.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.runtime.files import PART, storage_errors, sync_folder

Float32 = NDArray[np.float32]
OPEN = 64
"""Shards kept mapped at a time."""
_KINDS = ("features", "actions")


class Shards:
    """The shards of a folder, by number.

    Args:
        folder: Where they are; made when missing.
        widths: Columns of features and of actions.
    """

    def __init__(self, folder: Path, widths: tuple[int, int]) -> None:
        self._folder = folder
        self._widths = widths
        self._mapped: OrderedDict[int, tuple[Float32, Float32]] = OrderedDict()
        with storage_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def write(self, number: int, episodes: Iterable[tuple[Float32, Float32]]) -> list[int]:
        """Write a shard of episodes, features (T, F) and actions (T, A) each; gives their lengths.

        Episodes are taken one by one: no more than one is in memory. Whatever is raised meanwhile leaves nothing behind.
        """
        paths = [self._path(number, kind) for kind in _KINDS]
        parts = [path.with_name(path.name + PART) for path in paths]
        lengths: list[int] = []
        with storage_errors(paths[0]):
            try:
                with open(parts[0], "wb") as features, open(parts[1], "wb") as actions:
                    for seen, done in episodes:
                        features.write(np.ascontiguousarray(seen, dtype=np.float32).tobytes())
                        actions.write(np.ascontiguousarray(done, dtype=np.float32).tobytes())
                        lengths.append(len(seen))
                    _flush(features, actions)
                for part, path in zip(parts, paths, strict=True):
                    os.replace(part, path)
            except BaseException:
                for path in (*parts, *paths):
                    path.unlink(missing_ok=True)
                raise
            sync_folder(self._folder)
        return lengths

    def rows(self, number: int) -> tuple[Float32, Float32]:
        """Features (N, F) and actions (N, A) of a shard, mapped: nothing is read before it is looked at."""
        if number not in self._mapped:
            with storage_errors(self._path(number, "features")):
                maps = [
                    np.asarray(np.memmap(self._path(number, kind), dtype=np.float32, mode="r")).reshape(-1, width)
                    for kind, width in zip(_KINDS, self._widths, strict=True)
                ]
            self._mapped[number] = maps[0], maps[1]
            while len(self._mapped) > OPEN:
                self._mapped.popitem(last=False)
        self._mapped.move_to_end(number)
        return self._mapped[number]

    def sizes(self, number: int) -> tuple[int, int]:
        """Rows that the two files of a shard hold; -1 for one that is missing or has half a row."""
        found = []
        for kind, width in zip(_KINDS, self._widths, strict=True):
            path = self._path(number, kind)
            size = path.stat().st_size if path.is_file() else -1
            found.append(size // (4 * width) if size >= 0 and size % (4 * width) == 0 else -1)
        return found[0], found[1]

    def sweep(self, known: Iterable[int]) -> None:
        """Remove every file that is not of a known shard."""
        keep = {self._path(number, kind) for number in known for kind in _KINDS}
        for path in sorted(self._folder.iterdir()):
            if path not in keep:
                path.unlink()
        for number in [n for n in self._mapped if self._path(n, "features") not in keep]:
            del self._mapped[number]

    def _path(self, number: int, kind: str) -> Path:
        return self._folder / f"{number:06d}.{kind}.f32"


def _flush(*files: BinaryIO) -> None:
    for file in files:
        file.flush()
        os.fsync(file.fileno())
