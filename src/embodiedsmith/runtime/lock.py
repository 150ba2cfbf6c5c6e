"""One writer a run: a lock the operating system releases when its process ends, however it ends."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from pathlib import Path

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import storage_errors


class RunLockedError(SmithError):
    """Another process is writing to the run."""


class WriterLock:
    """Exclusive lock on a file that names the process holding it.

    It is `flock`, not the existence of the file, that locks: after `kill -9` the file stays and the lock is gone.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock at once.

        Raises:
            RunLockedError: Another process (or another `WriterLock` of this one) holds it; says which.
        """
        with storage_errors(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(os.pread(self._descriptor, 4096, 0))
            os.close(self._descriptor)
            raise RunLockedError(
                f"is being written by {holder}",
                where=str(path.parent),
                remedy="wait until it has finished, or give another output folder",
            ) from None
        with storage_errors(path):
            os.ftruncate(self._descriptor, 0)
            text = json.dumps({"pid": os.getpid(), "command": " ".join(sys.argv)}, ensure_ascii=False)
            os.pwrite(self._descriptor, text.encode("utf-8", "surrogateescape"), 0)

    def release(self) -> None:
        """Let go of the lock; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _holder(content: bytes) -> str:
    try:
        entry = json.loads(content)
        return f"process {entry['pid']} ({entry['command']})"
    except (ValueError, KeyError, TypeError):  # the holder has locked but not yet written its name
        return "another process"
