"""What the flywheel has kept: tens of thousands of encoded episodes on disk, of which only an index is in memory.

Layout of the folder: `index.json` (names, shards, name and checksum of the table), `table-<checksum>.npy` (a row an episode) and
`shards/` (see `shards`). A change writes its shard, then the table, then renames `index.json` into place: a process killed at any
moment leaves the replay as it was before the change or as it is after it; whatever else it left is swept when the replay is
opened.

When there are more episodes than the capacity, some are evicted: real ones never; of the others an early quota, the oldest, stays
for ever, so do the best by quality, for half of the remaining room, and the newest fill the other half. An episode evicted in a
round can be taken back by `rewind` to that round; its rows leave the disk in a later one.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.flywheel.shards import Float32, Shards
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import read_json, storage_errors, write_atomic, write_json
from embodiedsmith.spec import Noun

INDEX = "index.json"
VERSION = 2
REAL = "real"
"""Source of episodes from real robots: never evicted."""
LIVE = -1
TABLE = np.dtype([
    ("shard", "<i4"), ("start", "<i8"), ("length", "<i4"), ("quality", "<f4"), ("efficiency", "<f4"), ("level", "<i2"),
    ("round", "<i4"), ("task", "<i2"), ("source", "<i2"), ("scenario", "<i4"), ("attempt", "<i8"), ("evicted", "<i4"),
    ("whole", "?"),
])  # fmt: skip
"""What the index knows of an episode; `evicted`: the round in which it was, or `LIVE`; `whole`: whether it ended with its last
row. Names are numbers of name tables."""
_NAMED = ("task", "source", "scenario")
SPARSE = 0.5
"""A shard less full of live rows than this is written anew."""


class ReplayError(SmithError):
    """A replay is damaged, or what is to be added does not fit it."""


class ReplayConfig(Noun):
    """How much is kept and how it is drawn from."""

    capacity: int = Field(default=50_000, ge=1)
    """Episodes."""
    early: float = Field(default=0.2, ge=0.0, le=1.0)
    """Quota of early episodes: of the capacity when evicting, of every batch when sampling."""
    ages: int = Field(default=4, ge=1)
    """Spans of rounds that are drawn from alike."""
    qualities: int = Field(default=3, ge=1)
    """Classes of quality within a span, of equally many episodes."""
    preference: float = Field(default=3.0, ge=1.0)
    """How much more often the best class is drawn from than the worst."""


class Rows(Protocol):
    """An encoded episode, or a stretch of one: features (T, F) and actions (T, A)."""

    @property
    def features(self) -> Float32: ...

    @property
    def actions(self) -> Float32: ...

    @property
    def whole(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """An episode as it enters the replay."""

    episode: Rows
    quality: float
    efficiency: float
    level: int
    task: str
    source: str
    """`expert`, `policy`, `real` ..."""
    scenario: str = ""
    """Scenario id."""
    attempt: int = 0


class Replay:
    """Encoded episodes on disk. One writer.

    Args:
        folder: Made when missing.
        feature_names: Of the columns of features; those of what is there already.
        action_names: Likewise.
        config: How much is kept.

    Raises:
        ReplayError: what is there is damaged, or of other features or actions.
    """

    def __init__(
        self, folder: Path, feature_names: Sequence[str], action_names: Sequence[str], config: ReplayConfig | None = None
    ) -> None:
        self.folder = folder
        self.config = config or ReplayConfig()
        self.feature_names, self.action_names = tuple(feature_names), tuple(action_names)
        self.shards = Shards(folder / "shards", (len(self.feature_names), len(self.action_names)))
        self._names: dict[str, list[str]] = {name: [] for name in _NAMED}
        self._table = np.zeros(0, TABLE)
        self._next = 0
        if (folder / INDEX).is_file():
            self._read()
        self._sweep()

    # ------------------------------------------------------------------ looking

    def __len__(self) -> int:
        """Number of live episodes."""
        return int((self._table["evicted"] == LIVE).sum())

    @property
    def steps(self) -> int:
        """Number of steps of the live episodes."""
        return int(self.table["length"].sum())

    @property
    def table(self) -> NDArray[Any]:
        """A row for every live episode, oldest first, of dtype `TABLE`; names as numbers, see `name`."""
        live: NDArray[Any] = self._table[self._table["evicted"] == LIVE]
        return live

    def name(self, column: str, number: int) -> str:
        """The name that a number in the column `task`, `source` or `scenario` stands for."""
        return self._names[column][number]

    def number(self, column: str, name: str) -> int:
        """The number of a name in that column; -1: no episode has it."""
        return self._names[column].index(name) if name in self._names[column] else -1

    def count(self, column: str) -> dict[str, int]:
        """Live episodes by task, source or scenario."""
        numbers = self.table[column]
        found = {name: int((numbers == k).sum()) for k, name in enumerate(self._names[column])}
        return {name: n for name, n in found.items() if n}

    # ------------------------------------------------------------------ changing

    def add(self, round: int, episodes: Iterable[Labelled]) -> Decision:
        """Keep episodes of a round, evicting others when there are too many. All or none of them are kept.

        Args:
            round: Its number, not below that of any episode here.
            episodes: Taken one by one.

        Raises:
            ReplayError: an episode is empty, has other columns, or numbers that are not finite.
            DiskFullError: Nothing changed.
        """
        if len(self._table) and round < int(self._table["round"].max()):
            raise ReplayError(
                f"round {round} is over: there are episodes of round {self._table['round'].max()}",
                remedy=f"rewind({round}) first",
            )
        before = len(self)
        old, names = self._table, {column: list(known) for column, known in self._names.items()}
        try:
            self._compact(round)
            labels: list[Labelled] = []
            lengths = self.shards.write(self._next, self._checked(episodes, labels))
            if not lengths:
                self.shards.sweep(self._known())
            else:
                self._table = np.concatenate([self._table, self._rows(round, labels, lengths)])
                self._next += 1
                self._evict(round)
            self._commit()
        except BaseException:
            self._table, self._names = old, names
            raise
        self._sweep()
        evicted = int((self._table["evicted"] == round).sum())
        reason = f"{len(lengths)} episodes added" + (f", {evicted} evicted for {self.config.capacity} fit" if evicted else "")
        numbers = {"added": len(lengths), "evicted": evicted, "steps": self.steps}
        return Decision(
            round=round, part="replay", what="episodes", before=before, after=len(self), reason=reason, numbers=numbers
        )

    def rewind(self, round: int) -> None:
        """As it was before that round began: its episodes and later ones are gone, what they evicted is back."""
        table = self._table[self._table["round"] < round]
        table["evicted"][table["evicted"] >= round] = LIVE
        if len(table) != len(self._table) or not np.array_equal(table, self._table):
            self._table = table
            self._commit()
            self._sweep()

    def _checked(self, episodes: Iterable[Labelled], labels: list[Labelled]) -> Iterator[tuple[Float32, Float32]]:
        shape = len(self.feature_names), len(self.action_names)
        for number, labelled in enumerate(episodes):
            seen, done = labelled.episode.features, labelled.episode.actions
            where = f"episode {number} ({labelled.source}, scenario {labelled.scenario}, attempt {labelled.attempt})"
            if seen.shape[1:] != shape[:1] or done.shape[1:] != shape[1:] or len(seen) != len(done) or not len(seen):
                what = f"has features {seen.shape} and actions {done.shape}"
                raise ReplayError(f"{what}; (T, {shape[0]}) and (T, {shape[1]}) with T > 0 fit", where=where)
            if not (np.isfinite(seen).all() and np.isfinite(done).all() and np.isfinite([labelled.quality]).all()):
                raise ReplayError("has numbers that are not finite", where=where, remedy="look for the fault that made it")
            labels.append(labelled)
            yield seen, done

    def _rows(self, round: int, labels: Sequence[Labelled], lengths: Sequence[int]) -> NDArray[Any]:
        rows = np.zeros(len(lengths), TABLE)
        rows["shard"], rows["round"], rows["evicted"] = self._next, round, LIVE
        rows["length"] = lengths
        rows["start"] = np.cumsum([0, *lengths[:-1]])
        rows["whole"] = [label.episode.whole for label in labels]
        for column in ("quality", "efficiency", "level", "attempt"):
            rows[column] = [getattr(label, column) for label in labels]
        for column in _NAMED:
            known = self._names[column]
            known += sorted({getattr(label, column) for label in labels} - set(known))
            numbers = {name: k for k, name in enumerate(known)}
            rows[column] = [numbers[getattr(label, column)] for label in labels]
        return rows

    def _evict(self, round: int) -> None:
        live = np.flatnonzero(self._table["evicted"] == LIVE)
        excess = len(live) - self.config.capacity
        if excess <= 0:
            return
        real = self._table["source"][live] == self.number("source", REAL)
        others = live[~real]
        room = max(self.config.capacity - int(real.sum()), 0)
        early = min(int(self.config.early * self.config.capacity), room)
        rest = others[early:]
        best = (room - early) // 2
        ranked = rest[np.argsort(-self._table["quality"][rest], kind="stable")]
        newest = np.sort(ranked[best:])[::-1][: room - early - best]
        kept = np.concatenate([live[real], others[:early], ranked[:best], newest])
        self._table["evicted"][np.setdiff1d(live, kept)] = round

    def _compact(self, round: int) -> None:
        """Write sparse shards anew without what was evicted in earlier rounds."""
        dead = (self._table["evicted"] != LIVE) & (self._table["evicted"] < round)
        for number in np.unique(self._table["shard"][dead]).tolist():
            here = self._table["shard"] == number
            rows = self._table["length"]
            if rows[here & ~dead].sum() >= SPARSE * rows[here].sum():
                continue
            keep = np.flatnonzero(here & ~dead)
            if len(keep):
                seen, done = self.shards.rows(number)
                spans = [(int(r["start"]), int(r["start"] + r["length"])) for r in self._table[keep]]
                lengths = self.shards.write(self._next, ((seen[a:b], done[a:b]) for a, b in spans))
                self._table = self._table.copy()
                self._table["shard"][keep] = self._next
                self._table["start"][keep] = np.cumsum([0, *lengths[:-1]])
                self._next += 1
            stays = ~(here & dead)
            self._table, dead = self._table[stays], dead[stays]

    # ------------------------------------------------------------------ on disk

    def _known(self) -> set[int]:
        return set(np.unique(self._table["shard"]).tolist())

    def _commit(self) -> None:
        buffer = io.BytesIO()
        np.save(buffer, self._table, allow_pickle=False)
        data = buffer.getvalue()
        checksum = hashlib.sha256(data).hexdigest()
        with storage_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / f"table-{checksum[:16]}.npy", data)
        content = {
            "version": VERSION,
            "table": f"table-{checksum[:16]}.npy",
            "sha256": checksum,
            "names": self._names,
            "next_shard": self._next,
            "feature_names": list(self.feature_names),
            "action_names": list(self.action_names),
        }
        write_json(self.folder / INDEX, content)

    def _read(self) -> None:
        path = self.folder / INDEX
        content = read_json(path)
        if content.get("version") != VERSION:
            raise ReplayError(f"has version {content.get('version')}, this reads {VERSION}", where=str(path))
        mine = {"feature_names": list(self.feature_names), "action_names": list(self.action_names)}
        for what, names in mine.items():
            if content[what] != names:
                raise ReplayError(
                    f"holds {len(content[what])} {what}, {len(names)} are asked for, or others",
                    where=str(path), remedy="use the observation and action space it was made with, or another folder",
                )  # fmt: skip
        table = self.folder / content["table"]
        with storage_errors(table):
            data = table.read_bytes()
        if hashlib.sha256(data).hexdigest() != content["sha256"]:
            raise ReplayError("does not have its checksum: it is damaged", where=str(table), remedy="restore it from a copy")
        self._table = np.load(io.BytesIO(data), allow_pickle=False)
        self._names, self._next = content["names"], content["next_shard"]
        faults = []
        for number in sorted(self._known()):
            here = self._table[self._table["shard"] == number]
            needed, sizes = int((here["start"] + here["length"]).max()), self.shards.sizes(number)
            if min(sizes) < needed:
                faults.append(f"shard {number} has {sizes[0]} rows of features and {sizes[1]} of actions; {needed} are needed")
        if faults:
            raise ReplayError("shards are missing or cut short", where=str(self.folder), faults=faults)

    def _sweep(self) -> None:
        """Remove what no index knows of."""
        self.shards.sweep(self._known())
        path = self.folder / INDEX
        named = read_json(path)["table"] if path.is_file() else None
        for table in sorted(self.folder.glob("table-*")):
            if table.name != named:
                table.unlink()
