"""The run directory: one folder that holds what was asked, what was done, and everything that came of it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.runtime.files import PART, read_json, storage_errors, write_json
from embodiedsmith.runtime.index import Index
from embodiedsmith.runtime.lock import WriterLock
from embodiedsmith.runtime.versions import versions

FREE_KEYS = frozenset({"episodes", "workers", "quiet", "json", "out"})
"""Keys of a run's config that may differ when it is opened again: they change how much or how fast, not what."""

FOLDERS = ("scenarios", "episodes", "exports", "report")
_RUN_FILE, _INDEX_FILE, _LOCK_FILE = "run.json", "index.sqlite", "writer.lock"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]*")


class RunError(SmithError):
    """A folder cannot be used as the run it was taken for."""


class RunMismatchError(RunError):
    """The run was made with another configuration than the one it is opened with."""


class Run:
    """A run directory: `run.json`, `index.sqlite`, `scenarios/`, `episodes/`, `exports/`, `report/`.

    Make one with `Run.create` or `Run.open`, and close it (it is a context manager). At most one process writes to a
    run, held by a lock; any number may read it meanwhile.
    """

    def __init__(self, path: Path, content: Mapping[str, Any], index: Index, lock: WriterLock | None) -> None:
        self.path = path
        self._content = dict(content)
        self.index = index
        self._lock = lock

    @classmethod
    def create(cls, path: str | Path, config: Mapping[str, Any]) -> Self:
        """Make a run at `path`, open for writing.

        Args:
            path: A folder that does not exist, is empty, or is the remains of a `create` that was killed.
            config: The resolved configuration, of JSON values; `seed` is required.

        Raises:
            RunLockedError: Another process is writing there.
            RunError: There is a run or something else in the folder.
            UsageError: The configuration has no seed or is not JSON.
        """
        folder = Path(path)
        resolved = _resolved(config)
        known = {_RUN_FILE, _INDEX_FILE, _INDEX_FILE + "-wal", _INDEX_FILE + "-shm", _LOCK_FILE, _RUN_FILE + PART, *FOLDERS}
        with storage_errors(folder):
            strangers = []
            if folder.exists() and not (folder / _RUN_FILE).exists():
                strangers = sorted(p.name for p in folder.iterdir() if p.name not in known)
            if strangers:
                shown = ", ".join(strangers[:5])
                raise RunError(f"the folder holds other things ({shown})", where=str(folder), remedy="give a new or empty folder")
            folder.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(folder / _LOCK_FILE)
        try:
            if (folder / _RUN_FILE).exists():
                raise RunError(
                    "there is a run already",
                    where=str(folder),
                    remedy=f"`smith resume {folder}` finishes it, `smith collect {folder} -n N` adds to it",
                )
            with storage_errors(folder):
                for name in FOLDERS:
                    (folder / name).mkdir(exist_ok=True)
            index = Index(folder / _INDEX_FILE, write=True)
            content = {"format": 1, "seed": resolved["seed"], "config": resolved, "versions": versions()}
            write_json(folder / _RUN_FILE, content)
        except BaseException:
            lock.release()
            raise
        return cls(folder, content, index, lock)

    @classmethod
    def open(cls, path: str | Path, config: Mapping[str, Any] | None = None, *, write: bool = False) -> Self:
        """Open the run at `path`.

        Args:
            path: The run's folder.
            config: What the caller is about to do it with. Every key given, except `FREE_KEYS`, must have the value
                the run was made with. Nothing on disk changes when it has not.
            write: Take the writer's lock and sweep what a killed writer left half written. Without it, only reading.

        Raises:
            RunError: It is not a run.
            RunMismatchError: `config` differs in something that would change results; lists the differences.
            RunLockedError: `write` is asked for and another process is writing.
        """
        folder = Path(path)
        if not (folder / _RUN_FILE).is_file():
            raise RunError(
                "is not a run: it has no run.json", where=str(folder), remedy='`smith make "..." --out FOLDER` makes one'
            )
        content = read_json(folder / _RUN_FILE)
        if not isinstance(content, dict) or content.get("format") != 1 or not isinstance(content.get("config"), dict):
            raise RunError("run.json is not of a kind this version reads", where=str(folder / _RUN_FILE))
        if config is not None:
            _refuse_differences(folder, content["config"], config)
        lock = WriterLock(folder / _LOCK_FILE) if write else None
        try:
            if write:
                with storage_errors(folder):
                    _sweep(folder)
            index = Index(folder / _INDEX_FILE, write=write)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return cls(folder, content, index, lock)

    def close(self) -> None:
        """Close the index and let go of the lock; a second call does nothing."""
        self.index.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def config(self) -> dict[str, Any]:
        """The resolved configuration the run was made with (a copy)."""
        return dict(self._content["config"])

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self._content["seed"])

    @property
    def made_with(self) -> dict[str, str]:
        """Versions the run was made with (a copy)."""
        return dict(self._content["versions"])

    @property
    def writable(self) -> bool:
        """Whether this object holds the writer's lock."""
        return self._lock is not None

    def version_changes(self) -> list[str]:
        """What is installed now in another version than the run was made with, one line each; empty: bits will agree."""
        now, then = versions(), self.made_with
        names = sorted(now.keys() | then.keys())
        return [f"{n}: made with {then.get(n, 'none')}, now {now.get(n, 'none')}" for n in names if now.get(n) != then.get(n)]

    def update(self, **free: Any) -> None:
        """Change keys of the configuration that do not change results (`FREE_KEYS`), such as the number of episodes wanted."""
        refused = sorted(free.keys() - FREE_KEYS)
        if refused:
            raise UsageError(f"{', '.join(refused)} cannot change in a run", where=str(self.path), choices=sorted(FREE_KEYS))
        content = {**self._content, "config": {**self._content["config"], **free}}
        write_json(self.path / _RUN_FILE, content)
        self._content = content

    def file(self, folder: str, name: str) -> Path:
        """Path of the file or folder `name` in one of the run's folders; a plain name, so that it cannot lead out of the run."""
        if folder not in FOLDERS:
            raise UsageError(f"no folder '{folder}' in a run", where=str(self.path), choices=FOLDERS)
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"'{name}' cannot name something in a run", where=str(self.path / folder), remedy="use letters, digits, _ - and ."
            )
        return self.path / folder / name


def _resolved(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration as it will read back from JSON (tuples become lists), so that comparing it later is fair."""
    try:
        resolved = json.loads(json.dumps(dict(config), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise UsageError(f"the run's configuration is not JSON: {error}") from error
    seed = resolved.get("seed")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise UsageError(f"the run's seed must be a whole number from 0, not {seed!r}", where="seed")
    return dict(resolved)


def _refuse_differences(folder: Path, made: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    asked = json.loads(json.dumps(dict(asked), allow_nan=False))
    faults = [
        f"{key}: the run has {_shown(made, key)}, asked for {_shown(asked, key)}"
        for key in sorted(asked.keys() - FREE_KEYS)
        if key not in made or made[key] != asked[key]
    ]
    if faults:
        raise RunMismatchError(
            "the run was made with other settings; going on would mix two kinds of episodes",
            where=str(folder),
            faults=faults,
            remedy="leave these settings out to go on with the run's own, or give another folder",
        )


def _shown(config: Mapping[str, Any], key: str) -> str:
    return json.dumps(config[key], ensure_ascii=False) if key in config else "nothing"


def _sweep(folder: Path) -> None:
    """Remove what a killed writer left half written. Only called under the lock."""
    for name in FOLDERS:
        for leftover in (folder / name).glob(f"*{PART}"):
            if leftover.is_dir():
                shutil.rmtree(leftover)
            else:
                leftover.unlink()
    (folder / (_RUN_FILE + PART)).unlink(missing_ok=True)
