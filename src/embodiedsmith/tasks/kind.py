"""What a predicate is: the things it speaks of, its numbers, its margin, and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from embodiedsmith.assets.asset import Asset, Cavity, Support
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Language
from embodiedsmith.tasks.probe import Probe
from embodiedsmith.world import World

Args = tuple[str, ...]
Params = Mapping[str, float]
Assets = Mapping[str, Asset]
"""Item id to built asset."""

Need = Literal["movable", "support", "cavity", "joint", "bar", "cloth", "flowing", "thing"]
"""What an argument must have: `movable`, not furniture; `support`, `cavity`, `joint`, `bar`, that affordance (the part, when the
reference names one, is one of these); `cloth`, to be a sheet; `flowing`, to be liquid or grains; `thing`, nothing."""

HELD = -0.01
"""Margin [m] of "has been put" while both fingers still touch the thing: they have that far to go to let go of it clearly."""
TOUCH = 0.001
"""Margin [m] of a contact: it has no depth of its own, so it counts as this much."""
APART = 1e-4
"""Least distance [m] that things count as apart while they do not touch, however near they are."""


@dataclass(frozen=True)
class Role:
    """One argument of a predicate."""

    name: str
    """What the argument is to the predicate, for error messages: "item", "container"."""
    need: Need


@dataclass(frozen=True)
class Param:
    """One number a predicate takes."""

    default: float | None
    """None: it must be given."""
    unit: str
    meaning: str
    stricter_up: bool = False
    """Whether a larger number asks for more, as a least height does; else for less, as a largest distance does."""


@dataclass(frozen=True)
class Words:
    """How people say it in one language. Templates name arguments `{0}`, `{1}` and parameters by name."""

    do: str
    """Instruction to make it true: "put {0} on {1}"."""
    undo: str
    """Instruction to make it false: "take {0} off {1}"."""
    verbs: tuple[str, ...]
    """Words by which an instruction asks for it, lower case, without endings: "put", "pick up"."""
    marks: tuple[str, ...] = ()
    """Words that must stand in the instruction too when the verb is one that other predicates share: "in", "into"."""
    alike: str = ""
    """`do` for two things of the same category, when people say it differently: "stack {0} on {1}"."""
    along: str = ""
    """How it is said beside deeds, where it is none itself but a condition of theirs: "without moving {0}"."""


@dataclass(frozen=True)
class Bound:
    """A predicate tied to things of one world."""

    margin: Callable[[], float]
    """The margin now, in SI units; the probe it was bound to has been refreshed."""
    reset: Callable[[], None] = lambda: None
    """Called when an episode starts, for predicates that compare with the start."""
    mark: Callable[[], Callable[[], None]] = lambda: _forget
    """Gives a function that takes back what `margin` has remembered since, for predicates whose margin remembers: so that a
    state can be looked at as if it were the next, and then another."""
    anyway: Callable[[], float] | None = None
    """For a predicate that waits for a touch, or until the hand has let go: its margin by place alone. A `not` looks at this one,
    because what is held where it was, or a hair above, has not been taken away."""


def _forget() -> None:
    """Most predicates remember nothing but the start."""


@dataclass(frozen=True)
class NearMiss:
    """A state just outside a predicate's truth, which a careless checker would accept."""

    name: str
    """What is almost right, in a few words: "beside it, to the left"."""
    apply: Callable[[World], None]
    """Puts the world into that state: poses, joints, fingers. Time does not pass; `mj_forward` has been called."""


def _no_phrases(params: Params, language: Language) -> Mapping[str, str]:
    return {}


def _no_faults(assets: Assets, args: Args, params: Params) -> list[str]:
    return []


@dataclass(frozen=True, kw_only=True)
class PredicateKind:
    """One kind of predicate. One file in `tasks/predicates/` holds one, named `PREDICATE`."""

    name: str
    roles: tuple[Role, ...]
    params: dict[str, Param] = field(default_factory=dict)
    bind: Callable[[Probe, Args, Params], Bound]
    """Ties the predicate to a world, doing once what need not be done every step. Args have been checked, params are complete."""
    check: Callable[[Assets, Args, Params], list[str]] = _no_faults
    """What makes it impossible by construction (what goes in is too large), beyond what `faults` finds from the roles."""
    near_misses: Callable[[World, Args, Params], Iterator[NearMiss]]
    """States just outside the truth, at least four. Called with complete params in a world where the predicate holds, which is
    restored before each is applied: they do not add up, and read off the world beforehand whatever they depend on. Helpers
    that move things are in `tasks.near_misses`."""
    words: dict[Language, Words]
    phrases: Callable[[Params, Language], Mapping[str, str]] = _no_phrases
    """What its words can name besides arguments and numbers: how people say a number ("half of "). Params are complete."""
    leads_to: frozenset[str] = frozenset()
    """Predicates that it is a natural step towards: an instruction may mention it on the way without the goal asking for it."""
    lets_go: bool = False
    """Whether it holds only once both fingers have let go of the first argument."""
    said_last: int = 0
    """Where it is said among what it is joined with by `all`, because once it holds the rest cannot be done any more: 1, after
    what goes where it shuts; 2, after everything, because the hand stays taken."""

    def resolve(self, params: Params) -> dict[str, float]:
        """All parameters, given or default.

        Raises:
            UsageError: unknown or missing ones, all at once.
        """
        faults = self._param_faults(params)
        if faults:
            raise UsageError(f"the numbers given to '{self.name}' are not right", faults=faults, choices=self.params)
        defaults = {name: info.default for name, info in self.params.items() if info.default is not None}
        return {**defaults, **params}

    def faults(self, assets: Assets, args: Args, params: Params) -> list[str]:
        """Everything wrong with arguments and parameters, from the assets alone; empty when it makes sense."""
        faults = self._param_faults(params) + self._argument_faults(assets, args)
        return faults or self.check(assets, args, self.resolve(params))

    def margin(self, world: World, args: Args, params: Params | None = None) -> float:
        """The margin now, in SI units: positive inside the truth. For one look; a `GoalMonitor` is faster for many.

        Raises:
            UsageError: the arguments or parameters make no sense; lists every fault.
        """
        given = {} if params is None else params
        if faults := self.faults(world.assets, args, given):
            raise UsageError(f"{self.name}({', '.join(args)}) makes no sense", faults=faults)
        probe = Probe(world)
        probe.refresh()
        return self.bind(probe, args, self.resolve(given)).margin()

    def _param_faults(self, params: Params) -> list[str]:
        faults = [
            f"'{self.name}' takes no number '{name}'; it takes {sorted(self.params)}"
            for name in params
            if name not in self.params
        ]
        missing = [name for name, info in self.params.items() if info.default is None and name not in params]
        return faults + [
            f"'{self.name}' needs '{name}' [{self.params[name].unit}]: {self.params[name].meaning}" for name in missing
        ]

    def _argument_faults(self, assets: Assets, args: Args) -> list[str]:
        if len(args) != len(self.roles):
            wanted = ", ".join(role.name for role in self.roles)
            return [f"'{self.name}' takes ({wanted}); got ({', '.join(args)})"]
        faults = [fault for role, arg in zip(self.roles, args, strict=True) if (fault := _role_fault(role, arg, assets))]
        items = [arg.partition(".")[0] for arg in args]
        if not faults and len(set(items)) < len(items):
            faults.append(f"'{self.name}' relates different things; got ({', '.join(args)})")
        return faults


_LACKS = {
    "support": "nothing can be put on '{}'",
    "cavity": "nothing can be put inside '{}'",
    "joint": "'{}' has no door or drawer",
    "bar": "nothing can be hung on '{}'",
}


def _role_fault(role: Role, reference: str, assets: Assets) -> str | None:
    item, _, part = reference.partition(".")
    if item not in assets:
        return f"{role.name} '{reference}': no item '{item}'; items are {sorted(assets)}"
    asset = assets[item]
    if role.need in ("movable", "cloth", "flowing", "thing"):
        if part:
            return f"{role.name} '{reference}' must be a whole item, not a part of one"
        if role.need == "movable" and asset.fixed:
            return f"{role.name} '{reference}' is furniture and cannot be moved"
        sheet = asset.matter is not None and asset.matter.kind == "cloth"
        if role.need == "cloth" and not sheet:
            return f"{role.name} '{reference}' is no cloth"
        liquid = asset.matter is not None and asset.matter.kind == "liquid"
        grains = asset.matter is not None and asset.matter.kind == "grains"
        if role.need == "flowing" and not (liquid or grains):
            return f"{role.name} '{reference}' is neither liquid nor grains"
        if role.need == "movable" and liquid:
            return f"{role.name} '{reference}' is liquid: it can only be poured"
        if role.need == "movable" and sheet:
            return f"{role.name} '{reference}' is cloth and has no shape of its own"
        return None
    names = part_names(asset, role.need)
    if not names:
        return _LACKS[role.need].format(reference)
    if part and part not in names:
        return f"{role.name} '{reference}': '{item}' has no {role.need} '{part}'; it has {list(names)}"
    return None


def surfaces(asset: Asset, part: str | None) -> tuple[Support, ...]:
    """The surfaces one can mean by an item or a part of it, best known first.

    Without a part: every surface that is not behind a door or in a drawer, because what is there is in the thing, not on it; if
    all are, every one.
    """
    supports = asset.affordances.supports
    if part is not None:
        return tuple(s for s in supports if s.name == part)
    shut = {c.name for c in asset.affordances.cavities if c.joint is not None}
    return tuple(s for s in supports if s.name not in shut) or supports


def cavities(asset: Asset, part: str | None) -> tuple[Cavity, ...]:
    """The cavities one can mean by an item (any of its own) or a part of it."""
    return tuple(c for c in asset.affordances.cavities if part in (None, c.name))


def part_names(asset: Asset, need: Need) -> tuple[str, ...]:
    """Names of the asset's parts that can play a role."""
    match need:
        case "support":
            return tuple(s.name for s in asset.affordances.supports)
        case "cavity":
            return tuple(c.name for c in asset.affordances.cavities)
        case "joint":
            return tuple(asset.joints)
        case "bar":
            return tuple(b.name for b in asset.affordances.bars)
        case _:
            return ()
