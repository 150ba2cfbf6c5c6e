"""A job of which each worker process gets a Ctrl-C while it still loads what it needs."""

from __future__ import annotations

import multiprocessing
import os
import signal

if multiprocessing.current_process().name != "MainProcess":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as where the tests were not begun in the background
    os.kill(os.getpid(), signal.SIGINT)


def double(job: int) -> int:
    return 2 * job
