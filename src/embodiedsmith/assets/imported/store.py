"""Where imported things are kept: a folder each in the user's data folder, JSON to read and arrays that nothing is run from.

A thing's category is called by its name and eight digits of its content, so that a scenario made with it is refused, not
silently another, once the import has changed.
"""

from __future__ import annotations

import hashlib
import io
import shutil
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationError

from embodiedsmith.assets.imported.surface import Float, Int, Surface
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.home import home
from embodiedsmith.spec import Noun, Pose, Vec3
from embodiedsmith.spec.scene import ID_PATTERN

FORMAT = 1
RECORD, SHAPES = "asset.json", "shapes.npz"
MOST_BYTES = 50_000_000
"""Largest file of an import that is read back [bytes]."""

Rgba = tuple[float, float, float, float]


class KeptGrasp(Noun):
    """A grasp that held; see `assets.Grasp`."""

    pose: Pose
    width: float = Field(gt=0.0)
    kind: Literal["top", "side", "rim", "bar"]


class KeptHollow(Noun):
    """A hollow that a ball stayed in; lengths [m] in the thing's frame."""

    center: tuple[float, float]
    floor: float
    rim: float
    width: float = Field(gt=0.0)
    opening: float = Field(gt=0.0)


class KeptTop(Noun):
    """A level top that things can stand on."""

    center: Vec3
    width: float = Field(gt=0.0)


class Record(Noun):
    """All there is to know of an imported thing but its shapes."""

    format: int = FORMAT
    name: Annotated[str, Field(pattern=ID_PATTERN, max_length=40)]
    words: dict[Literal["en", "zh"], tuple[str, ...]]
    licence: str
    """"unknown" when nobody said."""
    source: str
    """Name of the file it came from."""
    source_sha256: str
    scale: float
    """What the file's lengths were multiplied by to be metres."""
    material: str
    """A material of the catalogue: what its friction is."""
    color: str
    """The catalogue's colour nearest to its own."""
    mass: float = Field(gt=0.0)
    com: Vec3
    inertia: tuple[float, float, float, float, float, float]
    """About the centre of mass [kg m^2]: xx, yy, zz, xy, xz, yz."""
    looks: tuple[Rgba, ...]
    """Colours of the surfaces to see, in order."""
    pieces: int = Field(ge=1)
    """Convex pieces to touch."""
    grasps: tuple[KeptGrasp, ...] = ()
    hollow: KeptHollow | None = None
    top: KeptTop | None = None
    repairs: tuple[str, ...] = ()
    """What was mended on the way, for people."""
    notes: tuple[str, ...] = ()
    """What one should know of it, for people."""
    shapes_sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """An imported thing as it is kept."""

    record: Record = field(compare=False)
    folder: str
    digest: str
    """Eight digits of the record's content, its shapes' among it."""

    @property
    def category(self) -> str:
        """The name of its category."""
        return f"{self.record.name}_{self.digest}"


def same_thing(one: str, other: str) -> bool:
    """Whether two names of imported categories differ in nothing but the content: one was imported in place of the other."""
    return one.rpartition("_")[0] == other.rpartition("_")[0]


def folder() -> Path:
    """Where imported things are kept: a folder of `EMBODIEDSMITH_HOME`, else of the user's data folder."""
    return home() / "assets"


def save(record: Record, looks: tuple[Surface, ...], pieces: tuple[Float, ...], *, replace: bool) -> Imported:
    """Keep a thing, whole or not at all.

    Raises:
        SmithError: there is one of that name already, and `replace` is not given.
    """
    target = folder() / record.name
    if target.exists() and not replace:
        raise SmithError(
            f"'{record.name}' has been imported before", where=str(target), remedy="give --replace, or another --name"
        )
    arrays: dict[str, Float | Int] = {}
    for index, look in enumerate(looks):
        arrays[f"look_{index:03d}_vertices"] = look.vertices.astype(np.float64)
        arrays[f"look_{index:03d}_faces"] = look.faces.astype(np.int64)
    for index, piece in enumerate(pieces):
        arrays[f"piece_{index:03d}"] = piece.astype(np.float64)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    data = buffer.getvalue()
    kept = record.model_copy(update={"shapes_sha256": _digest(arrays)})
    with storage_errors(target):
        target.mkdir(parents=True, exist_ok=True)
    write_atomic(target / SHAPES, data)
    write_atomic(target / RECORD, (kept.to_json(indent=2) + "\n").encode("utf-8"))
    return Imported(record=kept, folder=str(target), digest=kept.content_id()[:8])


def remove(name: str) -> None:
    """Forget an imported thing."""
    target = folder() / name
    with storage_errors(target):
        shutil.rmtree(target)


def load_all() -> tuple[Imported, ...]:
    """Everything that has been imported, by name.

    Raises:
        SmithError: a record cannot be read; says which folder to move away.
    """
    return _load_all(str(folder()), _stamp(folder()))


def _stamp(place: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when something is imported or removed."""
    try:
        found = sorted(place.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return ()
    stamps = []
    for path in found:
        try:
            state = (path / RECORD).stat()
        except OSError:
            continue
        stamps.append((path.name, state.st_mtime_ns, state.st_size))
    return tuple(stamps)


@lru_cache(maxsize=8)
def _load_all(place: str, stamp: tuple[tuple[str, int, int], ...]) -> tuple[Imported, ...]:
    return tuple(_load(Path(place) / name) for name, _, _ in stamp)


def _load(target: Path) -> Imported:
    path = target / RECORD
    remedy = f"import it again, or move {target} away"
    with storage_errors(path):
        data = path.read_bytes() if path.stat().st_size <= MOST_BYTES else b""
    try:
        record = Record.from_json(data)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:5]]
        raise SmithError("this is no record of an imported thing", where=str(path), faults=faults, remedy=remedy) from error
    if record.format != FORMAT or record.name != target.name:
        raise SmithError(f"a record of format {record.format} for '{record.name}'", where=str(path), remedy=remedy)
    return Imported(record=record, folder=str(target), digest=record.content_id()[:8])


def shapes(kept: Imported) -> tuple[tuple[Surface, ...], tuple[Float, ...]]:
    """The surfaces to see and the pieces to touch.

    Raises:
        SmithError: the file is damaged or not what the record was written with.
    """
    path = Path(kept.folder) / SHAPES
    record = kept.record
    remedy = f"import it again, or move {kept.folder} away"
    try:
        with storage_errors(path):
            if path.stat().st_size > MOST_BYTES:
                raise ValueError("it is too large")
            data = path.read_bytes()
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if _digest(arrays) != record.shapes_sha256:
            raise ValueError("its content has changed")
        looks = tuple(
            Surface(f"look_{k}", arrays[f"look_{k:03d}_vertices"], arrays[f"look_{k:03d}_faces"], rgba)
            for k, rgba in enumerate(record.looks)
        )
        return looks, tuple(arrays[f"piece_{k:03d}"] for k in range(record.pieces))
    except (ValueError, KeyError, OSError, EOFError) as error:
        raise SmithError(f"the shapes of '{record.name}' cannot be read ({error})", where=str(path), remedy=remedy) from error


def _digest(arrays: dict[str, Float | Int]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(
            name.encode() + str(arrays[name].dtype).encode() + str(arrays[name].shape).encode() + arrays[name].tobytes()
        )
    return digest.hexdigest()
