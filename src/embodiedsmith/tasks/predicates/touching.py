"""`touching(item, other)`: two things are in contact."""

from __future__ import annotations

from embodiedsmith.tasks.boxes import Box
from embodiedsmith.tasks.kind import APART, TOUCH, Args, Bound, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: `TOUCH` in contact, else minus the distance between the bounding boxes (at least `APART`)."""
    contact = probe.pair(args[0], args[1])
    first, second = Box(probe, args[0]), Box(probe, args[1])
    return Bound(lambda: TOUCH if contact in probe.pairs else -max(first.gap(second), APART))


PREDICATE = PredicateKind(
    name="touching",
    roles=(Role("item", "movable"), Role("other", "thing")),
    bind=bind,
    words={
        "en": Words("make {0} touch {1}", "keep {0} from touching {1}", ("touch", "touching", "push against", "contact")),
        "zh": Words("让{0}碰到{1}", "让{0}不碰{1}", ("碰到", "接触", "贴着", "碰")),
    },
)
