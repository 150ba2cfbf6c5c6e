"""Memory that was freed goes back to the system."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from embodiedsmith.runtime.memory import give_back


def resident() -> float:
    """[MB] that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, and only glibc gives memory back on request")
def test_holes_between_what_is_still_used_are_given_back() -> None:
    give_back()
    before = resident()
    blocks = [bytearray(20_000) for _ in range(6_000)]  # each below what is mapped by itself
    assert resident() - before > 100.0
    kept = blocks[:: len(blocks) // 3]
    blocks.clear()
    give_back()
    assert resident() - before < 30.0
    assert len(kept) >= 3
