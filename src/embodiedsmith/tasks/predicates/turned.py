"""`turned(thing.part)`: a knob, a lever or another part on a hinge is turned from where it is shut by at least an angle."""

from __future__ import annotations

from collections.abc import Iterator

from embodiedsmith.spec import split_reference
from embodiedsmith.tasks.joints import bind_joints, openings
from embodiedsmith.tasks.kind import Args, Assets, Bound, NearMiss, Param, Params, PredicateKind, Role, Words
from embodiedsmith.tasks.near_misses import opened_at_most
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World

MOST = 0.61
"""Fraction of a hinge's range beyond which an angle is not asked for: the robot turns it by this much at least."""


def bind(probe: Probe, args: Args, params: Params) -> Bound:
    """Margin [rad]: turn from where it is shut, minus `angle`. Without a part, the hinge that is turned most counts."""
    angle = params["angle"]
    turns = [turn for turn, info in bind_joints(probe.world, args[0]) if info.kind == "hinge"]
    return Bound(lambda: max(turn() for turn in turns) - angle)


def check(assets: Assets, args: Args, params: Params) -> list[str]:
    """The part must be on a hinge that goes so far."""
    item, part = split_reference(args[0])
    hinges = {n: j for n, j in assets[item].joints.items() if j.kind == "hinge" and part in (None, n)}
    if not hinges:
        return [f"'turned' needs something on a hinge; {args[0]} only slides"]
    most = MOST * max(abs(joint.open - joint.closed) for joint in hinges.values())
    angle = params["angle"]
    return [] if 0.0 < angle <= most else [f"'turned' needs an angle above 0 and at most {most:.2f} rad here, not {angle:g}"]


def near_misses(world: World, args: Args, params: Params) -> Iterator[NearMiss]:
    """Not turned far enough, down to not at all."""
    hinges = [(reference, info) for reference, info in openings(world, args[0]) if info.kind == "hinge"]
    for name, angle in (
        ("a hair short", params["angle"] - 0.005),
        ("a twentieth short", 0.95 * params["angle"]),
        ("5 degrees short", params["angle"] - 0.09),
        ("15 degrees short", params["angle"] - 0.26),
        ("three quarters of the way", 0.75 * params["angle"]),
        ("half-way", 0.5 * params["angle"]),
        ("a quarter of the way", 0.25 * params["angle"]),
        ("hardly turned", 0.05),
        ("not turned", 0.0),
    ):
        yield opened_at_most(name, {reference: (info, angle) for reference, info in hinges})


PREDICATE = PredicateKind(
    name="turned",
    roles=(Role("part", "joint"),),
    params={"angle": Param(1.2, "rad", "least turn from where it is shut", stricter_up=True)},
    bind=bind,
    check=check,
    leads_to=frozenset({"closed"}),
    near_misses=near_misses,
    words={
        "en": Words("turn {0}", "turn {0} back", ("turn", "twist", "rotate")),
        "zh": Words("转动{0}", "把{0}转回去", ("转动", "拧动", "旋转")),
    },
)
