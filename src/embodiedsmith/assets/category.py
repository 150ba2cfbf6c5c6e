"""What a category of things is: its words, its parameters with their limits, and how it is built."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.colors import COLORS, Language
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.spec import AssetSpec
from embodiedsmith.spec.scene import ParamValue

Role = Literal["furniture", "container", "object"]
Names = dict[Language, tuple[str, ...]]
Size = Literal["small", "medium", "large"]

TAGS: dict[str, Names] = {
    "fruit": {"en": ("fruit",), "zh": ("水果",)},
    "food": {"en": ("food", "groceries"), "zh": ("食物", "食品")},
    "tableware": {"en": ("tableware", "dishes", "crockery"), "zh": ("餐具", "碗碟")},
    "cutlery": {"en": ("cutlery", "silverware", "flatware"), "zh": ("刀叉",)},
    "drinkware": {"en": ("drinkware",), "zh": ("饮具", "杯具")},
    "cookware": {"en": ("cookware",), "zh": ("炊具", "厨具")},
    "appliance": {"en": ("appliance",), "zh": ("电器", "家电")},
    "storage": {"en": ("storage",), "zh": ("储物",)},
    "toy": {"en": ("toy",), "zh": ("玩具",)},
    "stationery": {"en": ("stationery",), "zh": ("文具",)},
    "cleaning": {"en": ("cleaning supplies",), "zh": ("清洁用品",)},
    "furniture": {"en": ("furniture",), "zh": ("家具",)},
    "container": {"en": ("container",), "zh": ("容器",)},
    "object": {"en": ("object", "thing", "item"), "zh": ("东西", "物体", "物品")},
}
"""Words for groups of categories, by tag: "every red fruit" means every category that carries the tag `fruit`."""


@dataclass(frozen=True, kw_only=True)
class Param:
    """One parameter of a category."""

    default: ParamValue
    meaning: str
    low: float | None = None
    """Least value allowed, in `unit`; None: not a number."""
    high: float | None = None
    """Greatest value allowed, in `unit`; None: not a number."""
    unit: str = ""
    source: str = ""
    """Where the default comes from."""
    choices: tuple[str, ...] = ()
    """Words allowed: of a word parameter the value, of a list parameter each entry."""
    scales: bool = False
    """Whether the size words (small, large) multiply the default."""

    def fault(self, value: ParamValue) -> str | None:
        """What is wrong with `value`, or None."""
        if isinstance(self.default, bool) or isinstance(value, bool):
            return None if isinstance(self.default, bool) and isinstance(value, bool) else "must be true or false"
        if isinstance(self.default, int | float):
            return self._number_fault(value)
        if isinstance(self.default, tuple):
            if not isinstance(value, tuple) or not value:
                return "must be a list of words"
            words: tuple[str, ...] = value
        else:
            if not isinstance(value, str):
                return "must be a word"
            words = (value,)
        unknown = [word for word in words if self.choices and word not in self.choices]
        return f"{unknown} not in {list(self.choices)}" if unknown else None

    def _number_fault(self, value: ParamValue) -> str | None:
        if not isinstance(value, int | float):
            return "must be a number"
        if isinstance(self.default, int) and value != int(value):
            return "must be a whole number"
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            return f"{value} is outside [{self.low}, {self.high}] {self.unit}".rstrip()
        return None


@dataclass(frozen=True, kw_only=True)
class Params:
    """Resolved parameter values, read with their type."""

    values: Mapping[str, ParamValue]

    def number(self, name: str) -> float:
        """A number as a float, in the parameter's unit."""
        value = self.values[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"parameter '{name}' is not a number: {value!r}")
        return float(value)

    def count(self, name: str) -> int:
        """A whole number."""
        return int(self.number(name))

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.values[name]
        if not isinstance(value, bool):
            raise TypeError(f"parameter '{name}' is not true or false: {value!r}")
        return value

    def word(self, name: str) -> str:
        """A word."""
        value = self.values[name]
        if not isinstance(value, str):
            raise TypeError(f"parameter '{name}' is not a word: {value!r}")
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """A list of words."""
        value = self.values[name]
        if not isinstance(value, tuple):
            raise TypeError(f"parameter '{name}' is not a list of words: {value!r}")
        return value


Builder = Callable[[AssetSpec, Params], Asset]


@dataclass(frozen=True, kw_only=True)
class Category:
    """A kind of thing the catalogue can build. One file in `assets/catalogue/` holds one, named `CATEGORY`."""

    name: str
    title: str
    """For people, in English."""
    names: Names
    """Singular words for it by language; the first is the preferred one."""
    role: Role
    """Furniture stays where it is; containers and objects are free to move. A cup is an object one can also fill."""
    build: Builder
    """Builds the asset from a checked spec and its resolved parameters."""
    params: dict[str, Param] = field(default_factory=dict)
    colors: tuple[str, ...] = tuple(COLORS)
    """Colours it comes in; the first is the default."""
    materials: tuple[str, ...]
    """Materials its main part can be made of; the first is the default."""
    tags: frozenset[str] = frozenset()
    """Groups it belongs to, keys of `TAGS`; its role is always one of them (see `all_tags`)."""
    sizes: dict[Size, float] = field(default_factory=lambda: {"small": 0.8, "medium": 1.0, "large": 1.2})
    """What the size words multiply the scaling parameters by; a size that is not among them is refused."""
    label: str = ""
    """What items of it are called in a scene; empty: the category's name."""
    imported: bool = False
    """Whether a user brought it: it is there for those who name it, and no draw from the catalogue depends on it."""

    @property
    def all_tags(self) -> frozenset[str]:
        """The tags and the role."""
        return self.tags | {self.role}

    @property
    def comes_in_sizes(self) -> bool:
        """Whether a size word changes anything: a small jug is a jug like any other."""
        return any(param.scales for param in self.params.values())

    def resolve(self, spec: AssetSpec) -> Params:
        """Parameter values for a spec: defaults, times the size word's factor where they scale, then overrides.

        Raises:
            InvalidAsset: naming every unknown or out-of-range parameter, colour and material at once.
        """
        faults = [*self._param_faults(spec.params)]
        if spec.color is not None and spec.color not in self.colors:
            faults.append(f"color '{spec.color}' is not one of {list(self.colors)}")
        if spec.material is not None and spec.material not in self.materials:
            faults.append(f"material '{spec.material}' is not one of {list(self.materials)}")
        if spec.size not in self.sizes:
            faults.append(f"size '{spec.size}' is not one of {list(self.sizes)}")
        if faults:
            raise InvalidAsset(self.name, faults)
        factor = self.sizes[spec.size]
        values: dict[str, ParamValue] = {}
        for name, param in self.params.items():
            value = param.default
            if param.scales and isinstance(value, int | float):
                value = value * factor
            values[name] = spec.params.get(name, value)
        return Params(values=values)

    def _param_faults(self, given: Mapping[str, ParamValue]) -> Iterable[str]:
        for name, value in given.items():
            param = self.params.get(name)
            if param is None:
                yield f"unknown parameter '{name}'{_near(name, self.params)}; parameters are {sorted(self.params)}"
            elif fault := param.fault(value):
                yield f"parameter '{name}' {fault}"


class UnknownCategory(UsageError):
    """A category name that the catalogue does not have; `later` are those that have taken its place."""

    def __init__(self, name: str, known: Iterable[str], later: Sequence[str] = ()) -> None:
        names = sorted(known)
        meant = _meant(later) if later else _near(name, names)
        super().__init__(f"no asset category '{name}'{meant}", choices=names, remedy="`smith assets` describes them")


class InvalidAsset(SmithError):
    """An AssetSpec whose parameters, colour or material its category refuses; `faults` holds them all."""

    def __init__(self, category: str, faults: Iterable[str]) -> None:
        remedy = f"`smith assets show {category}` lists what it takes"
        super().__init__("the asset cannot be built as asked", where=f"asset '{category}'", faults=faults, remedy=remedy)


def _near(name: str, known: Iterable[str]) -> str:
    return _meant(difflib.get_close_matches(name, list(known), n=3, cutoff=0.6))


def _meant(names: Sequence[str]) -> str:
    return f" (did you mean {' or '.join(names)}?)" if names else ""
