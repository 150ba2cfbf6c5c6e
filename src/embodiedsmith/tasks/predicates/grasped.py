"""`grasped(item)`: both fingers squeeze the item."""

from __future__ import annotations

from embodiedsmith.tasks.boxes import Box
from embodiedsmith.tasks.kind import APART, TOUCH, Args, Assets, Bound, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: `TOUCH` while both fingers press on it in their closing direction, else minus the TCP's distance to its box."""
    left, right = probe.held(args[0])
    box, tcp = Box(probe, args[0]), probe.tcp_position()

    def margin() -> float:
        pairs = probe.pairs
        if left in pairs and right in pairs and probe.squeezed(args[0]):
            return TOUCH
        return -max(box.distance(tcp), APART)

    return Bound(margin)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Something must be there to take hold of."""
    return [] if assets[args[0]].affordances.grasps else [f"'{args[0]}' has nothing to take hold of"]


PREDICATE = PredicateKind(
    name="grasped",
    roles=(Role("item", "movable"),),
    bind=bind,
    check=check,
    leads_to=frozenset({"lifted", "on", "inside", "near", "at", "touching", "upright"}),
    words={
        "en": Words("grasp {0}", "let go of {0}", ("grasp", "grab", "hold", "take hold of", "grip", "pick up")),
        "zh": Words("抓住{0}", "松开{0}", ("抓住", "握住", "抓", "握", "拿住")),
    },
)
