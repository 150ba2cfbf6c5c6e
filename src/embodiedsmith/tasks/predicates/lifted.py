"""`lifted(item)`: the item is higher than where it was when the episode began."""

from __future__ import annotations

from collections.abc import Iterator

from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import UP, shifted, span
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World


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


_SETTLED = 0.005
"""[m] By which a thing may have started higher or lower than laid out."""


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Lifted not far enough, put down again, and down on the floor."""
    item, height = args[0], params["height"]
    low, _ = span(world, item, UP)
    start = _laid_out(world, item)
    for name, rise in (
        ("a hair too low", height - _SETTLED), ("1 cm too low", height - 0.01), ("2 cm too low", height - 0.02),
        ("half as high", height / 2), ("just off what it stood on", _SETTLED), ("put down again", 0.0),
        ("lower than it was", -0.02), ("back on the floor", -start),
    ):  # fmt: skip
        if rise <= height - _SETTLED:
            yield shifted(world, name, item, UP * (start + rise - low))


def _laid_out(world: World, item: str) -> float:
    """Height [m] of an item's lowest point where it was laid out."""
    shape, nominal = Probe(world).shape(item), world.compiled.nominal[item]
    return float((shape.points @ nominal[2, :3] - shape.radii).min() + nominal[2, 3])


PREDICATE = PredicateKind(
    name="lifted",
    roles=(Role("item", "movable"),),
    params={"height": Param(0.05, "m", "least rise of the item's lowest point", stricter_up=True)},
    bind=bind,
    check=check,
    leads_to=frozenset(
        {"on", "inside", "near", "left_of", "right_of", "in_front_of", "behind", "between", "at", "touching", "upright"}
    ),
    near_misses=near_misses,
    said_last=2,
    words={
        "en": Words("lift {0}", "put {0} down", ("lift", "lift up", "raise", "pick up", "hold up")),
        "zh": Words("拿起{0}", "放下{0}", ("拿起", "举起", "提起", "抬起", "拎起")),
    },
)
