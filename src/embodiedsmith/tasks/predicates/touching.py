"""`touching(item, other)`: two things are in contact."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith.tasks.kind import APART, TOUCH, Args, Bound, NearMiss, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import SIDES, SLIP, UP, beyond, shifted
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: `TOUCH` in contact, else minus the distance between the two (at least `APART`).

    Not touching means apart by more than `TOUCH`.
    """
    contact, gap = probe.pair(args[0], args[1]), probe.distance(*args)

    def margin() -> float:
        return TOUCH if contact in probe.pairs else -max(gap(), APART)

    return Bound(margin, anyway=lambda: TOUCH - gap())


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Beside the other thing with a gap of a millimetre or a centimetre, on every side, and hovering over it."""
    item, other = args
    for side, (x, y) in SIDES:
        for gap in (0.001, SLIP):
            by = beyond(world, item, other, np.array([x, y, 0.0]), gap)
            yield shifted(world, f"{1000 * gap:g} mm short of it, at {side}", item, by)
    for gap in (0.001, SLIP):
        yield shifted(world, f"{1000 * gap:g} mm over it", item, beyond(world, item, other, UP, gap))


PREDICATE = PredicateKind(
    name="touching",
    roles=(Role("item", "movable"), Role("other", "thing")),
    bind=bind,
    near_misses=near_misses,
    words={
        "en": Words("make {0} touch {1}", "keep {0} from touching {1}", ("touch", "touching", "push against", "contact")),
        "zh": Words("让{0}碰到{1}", "让{0}不碰{1}", ("碰到", "接触", "贴着", "碰")),
    },
)
