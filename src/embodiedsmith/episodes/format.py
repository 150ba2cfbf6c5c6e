"""The episode file: one Parquet table of T+1 rows, the same bytes for the same recording.

Row t holds the state, observations and margins at control step t and the action applied from there, with its label; the
last row has no action and no label (null). Columns:

    step                int32    0 .. T
    time                double   step / control rate [s]
    state               list     integration state of the engine
    action              list     canonical action, null in the last row
    label               string   what the robot was doing, null in the last row
    margin              double   goal margin
    predicate_margins   list     margins of the goal's predicates
    observation/NAME    list     one column an observation

Everything else (scenario, seed, attempt, outcome, failure, events, names) is JSON in the table's metadata. No time of
writing, host or cost is in the file. Doubles are byte-stream-split and zstd compressed, which loses nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.tasks.recording import Event, Failure, Float, Recording

FORMAT = 1
_KEY = b"embodiedsmith"
_OBSERVATION = "observation/"


class EpisodeError(SmithError):
    """An episode file is damaged, or a recording cannot be made one."""


def faults_of(recording: Recording) -> list[str]:
    """What is wrong with a recording's shapes, names and numbers, all at once; empty when it is sound.

    A failure may hold numbers that are not finite (that can be why it failed); a success may not.
    """
    rows = recording.length + 1
    tables: dict[str, tuple[Float, int, int]] = {
        "states": (recording.states, 2, rows),
        "actions": (recording.actions, 2, rows - 1),
        "margins": (recording.margins, 1, rows),
        "predicate_margins": (recording.predicate_margins, 2, rows),
        **{f"observation '{name}'": (values, 2, rows) for name, values in recording.observations.items()},
    }
    faults = []
    for name, (values, ndim, length) in tables.items():
        if values.ndim != ndim or len(values) != length:
            faults.append(
                f"{name} has shape {values.shape}, not {(length, 'n')[:ndim]}, for {rows - 1} actions".replace("'n'", "n")
            )
        elif recording.outcome == "success" and not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0][0])
            faults.append(f"{name} of a success is not finite, first in row {row}")
    if recording.predicate_margins.ndim == 2 and recording.predicate_margins.shape[1] != len(recording.predicate_names):
        faults.append(f"{recording.predicate_margins.shape[1]} predicate margins for {len(recording.predicate_names)} names")
    if len(recording.labels) != recording.length:
        faults.append(f"{len(recording.labels)} labels for {recording.length} actions")
    late = [e.kind for e in recording.events if not 0 <= e.step <= recording.length]
    if late:
        faults.append(f"events outside the episode: {', '.join(late)}")
    if (recording.failure is None) != (recording.outcome == "success"):
        faults.append(f"outcome is '{recording.outcome}' and failure is {recording.failure}")
    return faults


def encode(recording: Recording, control_hz: float) -> bytes:
    """A sound recording (see `faults_of`) as the bytes of an episode file."""
    rows = recording.length + 1
    step = np.arange(rows, dtype=np.int32)
    lists: dict[str, Float] = {
        "state": recording.states,
        "action": recording.actions,
        "predicate_margins": recording.predicate_margins,
        **{_OBSERVATION + name: recording.observations[name] for name in sorted(recording.observations)},
    }
    columns: dict[str, pa.Array] = {"step": pa.array(step), "time": pa.array(step / control_hz)}
    for name, values in lists.items():
        if values.shape[1] > 0:  # Parquet has no lists of width zero: their width in the metadata is enough
            columns[name] = _list_array(values, rows)
    columns["label"] = pa.array([*recording.labels, None], pa.string())
    columns["margin"] = pa.array(np.asarray(recording.margins, dtype=np.float64))
    meta = {
        "format": FORMAT,
        "scenario_id": recording.scenario_id,
        "seed": recording.seed,
        "attempt": recording.attempt,
        "control_hz": control_hz,
        "outcome": recording.outcome,
        "failure": failure_to_json(recording.failure),
        "predicate_names": list(recording.predicate_names),
        "events": [asdict(event) for event in recording.events],
        "widths": {name: values.shape[1] for name, values in lists.items()},
    }
    text = json.dumps(meta, sort_keys=True, ensure_ascii=False, allow_nan=False)
    table = pa.table(columns).replace_schema_metadata({_KEY: text.encode("utf-8")})
    split = [f"{name}.list.element" if name in lists else name for name in columns if name not in ("step", "label")]
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        row_group_size=rows,
        compression="zstd",
        compression_level=3,
        use_dictionary=["label"],
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
        write_statistics=False,
        write_page_checksum=True,
    )
    return bytes(sink.getvalue())


def decode(data: bytes, where: str) -> Recording:
    """The recording in the bytes of an episode file; equal, bit for bit, to the one encoded, without its cost.

    Raises:
        EpisodeError: The bytes are not an episode file or are damaged.
    """
    try:
        table = pq.read_table(pa.BufferReader(data), page_checksum_verification=True)
        meta = json.loads(table.schema.metadata[_KEY])
        if meta["format"] != FORMAT:
            raise EpisodeError(f"is an episode of format {meta['format']}; this version reads {FORMAT}", where=where)
        widths: dict[str, int] = meta["widths"]
        length = table.num_rows - 1
        values = {name: _list_values(table, name, width, length + (name != "action")) for name, width in widths.items()}
        return Recording(
            scenario_id=meta["scenario_id"],
            seed=meta["seed"],
            attempt=meta["attempt"],
            states=values["state"],
            actions=values["action"],
            observations={n.removeprefix(_OBSERVATION): v for n, v in values.items() if n.startswith(_OBSERVATION)},
            margins=np.array(table["margin"].to_numpy()),
            predicate_names=tuple(meta["predicate_names"]),
            predicate_margins=values["predicate_margins"],
            labels=tuple(table["label"].to_pylist()[:length]),
            events=tuple(Event(**{**event, "subjects": tuple(event["subjects"])}) for event in meta["events"]),
            outcome=meta["outcome"],
            failure=failure_from_json(meta["failure"]),
        )
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError) as error:
        raise EpisodeError(f"is not a readable episode file: {error}", where=where) from error


def failure_to_json(failure: Failure | None) -> dict[str, Any] | None:
    """A failure as JSON values; numbers that are not finite become strings such as "inf"."""
    if failure is None:
        return None
    return {k: str(v) if isinstance(v, float) and not math.isfinite(v) else v for k, v in asdict(failure).items()}


def failure_from_json(content: Mapping[str, Any] | None) -> Failure | None:
    """The failure of `failure_to_json`."""
    if content is None:
        return None
    numbers = {k: float(content[k]) for k in ("value", "limit") if isinstance(content[k], str)}
    return Failure(**{**content, **numbers, "subjects": tuple(content["subjects"])})


def _list_array(values: Float, rows: int) -> pa.Array:
    """Rows of `values` as fixed-size lists; missing last rows are null."""
    count, width = values.shape
    full = np.zeros((rows, width))
    full[:count] = values
    missing = pa.array(np.arange(rows) >= count) if count < rows else None
    return pa.FixedSizeListArray.from_arrays(pa.array(full.ravel()), width, mask=missing)


def _list_values(table: pa.Table, name: str, width: int, rows: int) -> Float:
    if width == 0:
        return np.zeros((rows, 0))
    flat = table[name].slice(0, rows).combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.array(flat, dtype=np.float64).reshape(rows, width)
