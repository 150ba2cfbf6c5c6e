"""Tensors as safetensors beside JSON that says their names, shapes and checksum: whole or refused, and never code.

A checkpoint is two files in a folder, `NAME.json` and `NAME-<first digits of the checksum>.safetensors`. The tensors are written
first and the JSON is renamed into place after them: whoever is killed between leaves the older checkpoint whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import StorageError, read_json, storage_errors, write_atomic, write_json
from embodiedsmith.spec.base import digest

_KEYS = ("format", "version", "weights", "sha256", "tensors", "content", "content_id")


class CheckpointError(SmithError):
    """A checkpoint is missing, damaged or not what is asked for; it is never loaded in part."""


def write_checkpoint(folder: Path, name: str, kind: str, version: int, tensors: Mapping[str, Tensor], content: Any) -> None:
    """Write a checkpoint, whole or not at all, in place of an older one of that name.

    Args:
        folder: Made when missing.
        name: Stem of the files.
        kind: What it is a checkpoint of: reading asks for the same.
        version: Of that kind's content.
        tensors: Saved as they are.
        content: JSON values that go with them.
    """
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    plain = {key: tensor.detach().contiguous() for key, tensor in tensors.items()}
    data = safetensors.torch.save(plain)
    checksum = hashlib.sha256(data).hexdigest()
    weights = folder / f"{name}-{checksum[:16]}.safetensors"
    write_atomic(weights, data)
    about = {
        "format": kind,
        "version": version,
        "weights": weights.name,
        "sha256": checksum,
        "tensors": {key: list(tensor.shape) for key, tensor in sorted(plain.items())},
        "content": content,
        "content_id": digest(content),
    }
    write_json(folder / f"{name}.json", about)
    for old in folder.glob(f"{name}-*.safetensors"):
        if old != weights:
            old.unlink(missing_ok=True)


def has_checkpoint(folder: Path, name: str) -> bool:
    """Whether a checkpoint of that name was finished in the folder."""
    return (folder / f"{name}.json").is_file()


def read_checkpoint(folder: Path, name: str, kind: str, version: int, remedy: str) -> tuple[dict[str, Tensor], Any]:
    """Tensors and content of a checkpoint whose every byte is what was written.

    Raises:
        CheckpointError: It is missing, of another kind or version, or damaged; names every fault, with `remedy`.
    """
    path = folder / f"{name}.json"
    if not path.is_file():
        raise CheckpointError("there is no checkpoint here", where=str(path), remedy=remedy)
    try:
        about = read_json(path)
    except (StorageError, UnicodeDecodeError) as error:
        raise CheckpointError("the checkpoint's JSON is damaged", where=str(path), remedy=remedy, faults=[str(error)]) from error
    faults = _head_faults(about, kind, version)
    if faults:
        raise CheckpointError("this is not a checkpoint that can be read here", where=str(path), remedy=remedy, faults=faults)
    if digest(about["content"]) != about["content_id"]:
        faults = ["its content is not what was written: its digest differs"]
        raise CheckpointError("the checkpoint's JSON is damaged", where=str(path), remedy=remedy, faults=faults)
    tensors, faults = _tensors(folder / about["weights"], about)
    if faults:
        raise CheckpointError("the checkpoint is damaged", where=str(path), remedy=remedy, faults=faults)
    return tensors, about["content"]


def fill(targets: Mapping[str, Tensor], tensors: Mapping[str, Tensor], where: str, remedy: str) -> None:
    """Copy `tensors` into `targets`, in place.

    Raises:
        CheckpointError: Names, shapes or types differ; all faults are named, nothing is copied.
    """
    faults = [f"tensor {name!r} is missing" for name in sorted(targets.keys() - tensors.keys())]
    faults += [f"tensor {name!r} belongs to no part of this network" for name in sorted(tensors.keys() - targets.keys())]
    for name in sorted(targets.keys() & tensors.keys()):
        have, want = tensors[name], targets[name]
        if have.shape != want.shape or have.dtype != want.dtype:
            faults.append(f"tensor {name!r} is {_kind(have)} where {_kind(want)} is meant")
    if faults:
        raise CheckpointError("the tensors are not those of this network", where=where, remedy=remedy, faults=faults)
    with torch.no_grad():
        for name, target in targets.items():
            target.copy_(tensors[name])


def checksum_of(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of the tensors' names, kinds and bytes, in hexadecimal."""
    text = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().contiguous()
        text.update(f"{name} {_kind(tensor)}\n".encode())
        text.update(tensor.view(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b"")
    return text.hexdigest()


def _head_faults(about: Any, kind: str, version: int) -> list[str]:
    if not isinstance(about, dict):
        return [f"the JSON is a {type(about).__name__}, not an object"]
    faults = [f"key {key!r} is missing" for key in _KEYS if key not in about]
    if not faults and about["format"] != kind:
        faults.append(f"format is {about['format']!r} where {kind!r} is meant")
    elif not faults and about["version"] != version:
        faults.append(f"version is {about['version']!r} where this release reads {version}")
    elif not faults and not isinstance(about["tensors"], dict):
        faults.append(f"tensors are a {type(about['tensors']).__name__}, not shapes by name")
    elif not faults and Path(str(about["weights"])).name != about["weights"]:
        faults.append(f"weights {about['weights']!r} lie outside the folder")
    return faults


def _tensors(path: Path, about: dict[str, Any]) -> tuple[dict[str, Tensor], list[str]]:
    if not path.is_file():
        return {}, [f"{path.name} is missing"]
    with storage_errors(path):
        data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        what = "all zero" if data.count(0) == len(data) else f"{len(data)} bytes"
        return {}, [f"{path.name} ({what}) is not what was written: its checksum differs"]
    try:
        tensors = safetensors.torch.load(data)
    except safetensors.SafetensorError as error:
        return {}, [f"{path.name} cannot be read: {error}"]
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    listed = about["tensors"]
    names = sorted(shapes.keys() | listed.keys())
    return tensors, [
        f"tensor {name!r} has shape {shapes.get(name)} where the JSON says {listed.get(name)}"
        for name in names
        if shapes.get(name) != listed.get(name)
    ]


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype} {list(tensor.shape)}".removeprefix("torch.")
