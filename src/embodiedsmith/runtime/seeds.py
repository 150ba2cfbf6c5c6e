"""Random streams by name: every draw comes from (run seed, scenario id, attempt, stream name)."""

from __future__ import annotations

import hashlib

import numpy as np

HELD_OUT = 1 << 62
"""Seeds from here on are evaluation's own: nothing that a policy is trained on is drawn with one."""


def derive(seed: int, *names: str | int) -> int:
    """A 128-bit seed hashed from `seed` and `names`: the same on every platform, process and Python version.

    Each part carries its type and length, so ("ab", "c"), ("a", "bc") and ("1",) against (1,) all differ.
    """
    text = hashlib.sha256()
    for part in (seed, *names):
        data = str(part).encode("utf-8")
        text.update(f"{'s' if isinstance(part, str) else 'i'}{len(data)}:".encode())
        text.update(data)
    return int.from_bytes(text.digest()[:16], "little")


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A generator (PCG64) for the stream called `names` of the run `seed`.

    Example: `generator(run_seed, scenario.id, attempt, "layout")`. Streams with different names are independent:
    drawing more from one never changes another.
    """
    return np.random.Generator(np.random.PCG64(derive(seed, *names)))


def held_out(seed: int, *names: str | int) -> int:
    """The seed of evaluation called `names` of the run `seed`: at least `HELD_OUT`, below 2**63."""
    return HELD_OUT | derive(seed, "held out", *names) % HELD_OUT


def is_held_out(seed: int) -> bool:
    """Whether a seed is one of evaluation's."""
    return seed >= HELD_OUT
