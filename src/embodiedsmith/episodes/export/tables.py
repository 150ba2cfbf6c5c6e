"""The Parquet files of a LeRobot dataset: rows, episodes, names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from embodiedsmith.episodes.export.statistics import QUANTILES, Stats

DATA_PATH = "data/chunk-{chunk:03d}/file-{file:03d}.parquet"
EPISODES_PATH = "meta/episodes/chunk-000/file-000.parquet"
CHUNK = 1000
"""Files in one folder."""
_EPISODE_BATCH = 64

BOOKKEEPING = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
    "subtask_index": "int64",
}
_ARROW = {"float32": pa.float32(), "int64": pa.int64(), "bool": pa.bool_()}


class DataSeries:
    """Parquet files of rows, one row group an episode, rolled over by size."""

    def __init__(self, root: Path, schema: pa.Schema, limit: float) -> None:
        self._root, self._schema, self._limit = root, schema, limit
        self._file: Any = None
        self._writer: Any = None
        self.paths: list[Path] = []

    def add(self, table: pa.Table) -> int:
        """Append an episode; the number of the file it went to."""
        if self._writer is None or self._file.tell() >= self._limit:
            self.close()
            number = len(self.paths)
            path = self._root / DATA_PATH.format(chunk=number // CHUNK, file=number % CHUNK)
            path.parent.mkdir(parents=True, exist_ok=True)
            self.paths.append(path)
            self._file = open(path, "wb")  # noqa: SIM115 - open from one episode to the next
            self._writer = pq.ParquetWriter(self._file, self._schema, compression="snappy", write_page_checksum=True)
        self._writer.write_table(table, row_group_size=len(table))
        return len(self.paths) - 1

    def close(self) -> None:
        """Finish the file being written; a second call does nothing."""
        if self._writer is not None:
            self._writer.close()
            self._file.close()
            self._writer = None


class EpisodeTable:
    """`meta/episodes`: one row an episode with its statistics, written in batches."""

    def __init__(self, path: Path, features: Sequence[str], cameras: Sequence[str]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = ["outcome", "failure_code", "failure_message", "scenario_id", "instruction_en", "instruction_zh", "user_text"]
        numbers = ["episode_index", "length", "data/chunk_index", "data/file_index", "dataset_from_index", "dataset_to_index"]
        numbers += ["meta/episodes/chunk_index", "meta/episodes/file_index", "slot", "attempt", "seed"]
        flat = pa.list_(pa.float64())
        types: dict[str, pa.DataType] = {"tasks": pa.list_(pa.string())}
        types |= dict.fromkeys(text, pa.string()) | dict.fromkeys(numbers, pa.int64())
        for key in cameras:
            types |= dict.fromkeys((f"videos/{key}/chunk_index", f"videos/{key}/file_index"), pa.int64())
            types |= dict.fromkeys((f"videos/{key}/from_timestamp", f"videos/{key}/to_timestamp"), pa.float64())
            types |= {f"cameras/{key}/frame": pa.string(), f"cameras/{key}/intrinsics": flat, f"cameras/{key}/pose": flat}
        for key in (*features, *cameras):
            kind = pa.list_(pa.list_(flat)) if key in cameras else flat
            types |= {f"stats/{key}/{name}": kind for name in ("min", "max", "mean", "std", *QUANTILES)}
            types[f"stats/{key}/count"] = pa.list_(pa.int64())
        self._schema = pa.schema(list(types.items()))
        self._file = open(path, "wb")  # noqa: SIM115 - open from one episode to the next
        self._writer = pq.ParquetWriter(self._file, self._schema, compression="snappy", write_page_checksum=True)
        self._batch: list[dict[str, Any]] = []

    def add(self, entry: Mapping[str, Any], stats: Mapping[str, Stats]) -> None:
        """Append an episode's row: its `entry` by column, and its statistics by feature."""
        listed = {f"stats/{key}/{name}": value.tolist() for key, found in stats.items() for name, value in found.items()}
        self._batch.append({**entry, **listed})
        if len(self._batch) >= _EPISODE_BATCH:
            self._flush()

    def close(self) -> None:
        """Write what is left and finish the file."""
        self._flush()
        self._writer.close()
        self._file.close()

    def _flush(self) -> None:
        if self._batch:
            self._writer.write_table(pa.Table.from_pylist(self._batch, schema=self._schema))
            self._batch = []


def rows_digest(table: pa.Table) -> str:
    """SHA-256 over the values of a table of numbers, column by column: the same however the file is laid out."""
    digest = hashlib.sha256()
    for name in table.column_names:
        values = np.ascontiguousarray(numbers(table[name]))
        digest.update(f"{name} {values.dtype.str} {values.shape};".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


def numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of numbers or of fixed-size lists of numbers as an array, shape (n, d)."""
    rows, flat = len(column), column.combine_chunks()
    if pa.types.is_fixed_size_list(flat.type):
        flat = flat.flatten()
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(rows, -1)


def arrow_field(name: str, dtype: str, width: int) -> pa.Field:
    """The column of a feature of `width` dimensions."""
    # One-dimensional robot features stay lists; what LeRobot adds to every row is plain numbers.
    plain = name in BOOKKEEPING or name.startswith("next.") or width == 1
    return pa.field(name, _ARROW[dtype] if plain else pa.list_(_ARROW[dtype], width))


def arrow_array(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Values of shape (T,) or (T, width) as a column of that type."""
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel(), kind.value_type), kind.list_size)
    return pa.array(values.ravel(), kind)


def write_names(path: Path, indices: Mapping[str, int], name: str) -> None:
    """A table of texts and their numbers in which the text is the pandas index, as LeRobot reads it."""
    columns = {f"{name}_index": pa.array(list(indices.values()), pa.int64()), name: pa.array(list(indices), pa.string())}
    described = [
        {"name": f"{name}_index", "field_name": f"{name}_index", "pandas_type": "int64", "numpy_type": "int64", "metadata": None},
        {"name": name, "field_name": name, "pandas_type": "unicode", "numpy_type": "object", "metadata": None},
    ]
    pandas = {"index_columns": [name], "column_indexes": [], "columns": described, "pandas_version": "2.2.0"}
    with open(path, "wb") as file:
        pq.write_table(pa.table(columns).replace_schema_metadata({"pandas": json.dumps(pandas)}), file)
