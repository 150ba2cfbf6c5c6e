"""Writing files so that they are there whole or not at all, and saying clearly why they are not."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embodiedsmith.runtime.errors import SmithError

PART = ".part"
"""Suffix of what is still being written; swept when a writer opens the run."""

# EFBIG is what a file-size limit (`ulimit -f`) gives: to a user it is the same wall.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


_UNWRITABLE = "give a folder that can be written, or make this one so (owner, permissions, how it is mounted)"
_REMEDIES = {
    errno.EROFS: _UNWRITABLE,
    errno.EACCES: _UNWRITABLE,
    errno.EPERM: _UNWRITABLE,
    errno.ENOTDIR: "a part of the path is a file: give another folder",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.EMFILE: "raise the limit on open files (`ulimit -n`), or use fewer workers",
}


class StorageError(SmithError):
    """The file system refused to read or write."""


class DiskFullError(StorageError):
    """No space is left (or a quota or file-size limit is reached). What was committed before is still readable."""


@contextmanager
def storage_errors(where: Path | str) -> Iterator[None]:
    """Turn the operating system's errors on `where` into `DiskFullError` or `StorageError`."""
    try:
        yield
    except OSError as error:
        # h5py reports the system's error inside a message only.
        if error.errno in _FULL or "No space left" in str(error):
            raise DiskFullError(
                "no space left to write; everything committed before is intact and readable",
                where=str(where),
                remedy="free some space (or raise the quota), then run `smith resume`",
            ) from error
        raise StorageError(
            f"cannot read or write: {error.strerror or error}",
            where=str(where),
            remedy=_REMEDIES.get(error.errno or 0, "look at the path and at the disk, then type the command again"),
        ) from error


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` beside `path`, flush it to the disk and rename it into place: readers see all of it or nothing of it.

    Raises:
        DiskFullError: No space is left; the unfinished file is removed and an older `path` is untouched.
        StorageError: Any other refusal of the file system.
    """
    part = path.with_name(path.name + PART)
    with storage_errors(path):
        try:
            with open(part, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def write_json(path: Path, content: Any) -> None:
    """Write `content` as indented JSON with sorted keys, in UTF-8, atomically (see `write_atomic`)."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_atomic(path, (text + "\n").encode("utf-8"))


def read_json(path: Path) -> Any:
    """The JSON in `path`; raises `StorageError` naming the file when it is missing or not JSON."""
    with storage_errors(path):
        data = path.read_bytes()
    try:
        return json.loads(data)
    except ValueError as error:
        raise StorageError(f"is not valid JSON ({error})", where=str(path)) from error


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, so that a rename survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with storage_errors(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
