"""`lifted(item)`: the item is higher than where it was when the episode began."""

from __future__ import annotations

from embodiedsmith.tasks.kind import Args, Assets, Bound, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.probe import Probe


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [m]: rise of the item's lowest point since the start, minus `height`. Before any start: since it was laid out."""
    item = args[0]
    shape, frame = probe.shape(item), probe.frame(item)
    points, radii = shape.points, shape.radii
    height = params["height"]
    nominal = probe.world.compiled.nominal[item]
    start = float((points @ nominal[2, :3] - radii).min() + nominal[2, 3])

    def lowest() -> float:
        R, p = frame()
        return float((points @ R[2] - radii).min() + p[2])

    def reset() -> None:
        nonlocal start
        start = lowest()

    return Bound(lambda: lowest() - start - height, reset)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """Lifting is upwards."""
    return [] if params["height"] > 0 else [f"'lifted' needs a height above 0 m, not {params['height']:g}"]


PREDICATE = PredicateKind(
    name="lifted",
    roles=(Role("item", "movable"),),
    params={"height": Param(0.05, "m", "least rise of the item's lowest point")},
    bind=bind,
    check=check,
    leads_to=frozenset({"on", "inside", "near", "at", "touching", "upright"}),
    words={
        "en": Words("lift {0}", "put {0} down", ("lift", "lift up", "raise", "pick up", "hold up")),
        "zh": Words("拿起{0}", "放下{0}", ("拿起", "举起", "提起", "抬起", "拎起")),
    },
)
