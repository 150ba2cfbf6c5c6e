"""Completes a scene: the work surface, where things start, looks and sizes nobody asked for, and what else lies about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from embodiedsmith.assets import Asset, Category, build, categories
from embodiedsmith.assets.category import InvalidAsset
from embodiedsmith.forge.agents.effects import Effect, goal_of, split
from embodiedsmith.forge.agents.painting import Painter
from embodiedsmith.forge.agents.stage import Stage
from embodiedsmith.forge.agents.things import Ref, Thing
from embodiedsmith.forge.language.clauses import SURFACES
from embodiedsmith.forge.language.meaning import Meaning, Size
from embodiedsmith.spec import All, AssetSpec, Item, Pose, SceneSpec
from embodiedsmith.spec.scene import ParamValue, Setting
from embodiedsmith.tasks import goal_faults

ON_SURFACE = (0.66, 0.75)
"""Largest footprint side and height [m] of furniture that stands on the work surface; larger things stand on the floor."""
HUNG = ("wall_cabinet",)
"""Furniture that hangs on the wall."""
SMALL = (0.22, 0.26)
"""Largest footprint side and height [m] of a thing that may lie about."""
SCALE = (0.94, 1.06)
"""Range of the factor on the dimensions of a thing whose size nobody said."""
GRASPABLE = 0.07
"""Widest grasp [m] counted on: a parallel gripper that opens 0.08 m, less its play."""
CLUTTERED = (5, 7)
USUAL = (0, 3)
"""Fewest and most things lying about."""
FLARING = 1.15
"""Radius of a rim over that of a cavity from which a vessel is wider above: a bowl."""
SHIFTED = 100
"""Grains that are poured or scooped: a second of 150 at rest in a bowl takes a core four."""
COLUMN, PLAY = 0.75, 0.003
"""Of a column of grains in a vessel: its height over the vessel's, and the room round it [m]."""
FULL, HEAPED, BRIMFUL = 0.5, 0.6, 0.7
"""Shares of what holds a liquid, and of what it is poured into, that it fills; and of both where that is to be filled."""
TALL = 0.165
"""Height of a jug to fill things from [m]."""
OVERHANG = 0.1
"""[m] By which a cloth, spread out, reaches past what it is laid over, all round: drawn over it by a corner it narrows, and
lies some 5 cm narrower on either side than it is."""
WIDER, NARROWER = 1.25, 0.7
"""Factors on the usual dimensions of cloth that is laid over something, and of that, where it would reach less far."""
TWIN = 0.3
"""Chance that one of them is the like of a thing whose colour was said, in another colour."""


@dataclass
class Furnishing:
    """Turns a stage into a scene. Random draws come from the stage's generator."""

    meaning: Meaning
    stage: Stage
    effects: list[Effect]

    def __post_init__(self) -> None:
        self.rng = self.stage.rng
        self.surface = self._main_surface()
        self.others: list[Thing] = []
        self.painter = Painter(self.stage, self.effects, self.surface)
        self.sized = {thing for thing in self.stage.things if thing.size is not None}
        """Things whose size the brief says."""

    def run(self) -> SceneSpec:
        """The scene without poses; ids are given to every thing on the way."""
        self._start_places()
        for thing in sorted(self.stage.things, key=lambda thing: thing.category not in SURFACES):
            if not thing.liquid:
                self._vary(thing)
        for thing in self.stage.things:
            if thing.liquid:
                self._measure(thing)
            elif thing.flows and thing.place is not None and thing.place[0] == "inside":
                self._heap(thing, thing.place[1].thing.asset)
        self._lay_down()
        self._name()
        self._spread()
        self._fit()
        self.others = self._lying_about()
        self._name()
        things = sorted(
            self.stage.things, key=lambda t: (t.category not in SURFACES, categories()[t.category].role != "furniture")
        )
        return SceneSpec(setting=self._setting(), items=tuple(self._item(thing) for thing in (*things, *self.others)))

    # Surfaces and places

    def _main_surface(self) -> Thing:
        surfaces = [thing for thing in self.stage.things if thing.category in SURFACES]
        for thing in self.stage.things:
            if thing.place is not None and thing.place[1].thing in surfaces:
                return thing.place[1].thing
        if surfaces:
            return surfaces[0]
        furnished = any(categories()[thing.category].role == "furniture" for thing in self.stage.things)
        by_setting = {"kitchen": "counter", "counter": "counter", "tabletop": "table", "room": "table"}
        name = by_setting.get(self.meaning.setting or "", "counter" if furnished else "table")
        surface = Thing(name, spoken=False)
        self.stage.things.append(surface)
        return surface

    def _setting(self) -> Setting:
        match self.meaning.setting:
            case "kitchen":
                return "kitchen"
            case "room":
                return "room"
        floor = any(self._stands(thing) == "floor" for thing in self.stage.things if thing.category not in SURFACES)
        if self.surface.category == "counter":
            return "kitchen" if floor else "counter"
        return "room" if floor else "tabletop"

    def _stands(self, thing: Thing) -> str:
        """Where furniture belongs: `wall`, `floor` or `surface`."""
        if thing.category in HUNG:
            return "wall"
        size = thing.asset.size
        return "surface" if max(size[0], size[1]) <= ON_SURFACE[0] and size[2] <= ON_SURFACE[1] else "floor"

    def _start_places(self) -> None:
        """Free things start on the work surface, or elsewhere when they are to end there.

        What is put elsewhere first may be put back where it began.
        """
        stages, final = split(self.effects)
        for effect in final:
            thing = effect.args[0].thing
            if effect.name != "on" or effect.args[1].thing is not self.surface:
                continue
            if thing.place is None:
                thing.place = self._elsewhere(thing)
            elif thing.place[1].thing is self.surface and not any(stage.slot == effect.slot for stage in stages):
                self.stage.reasons.append(f"'{thing.category}' is on the {self.surface.category} from the start")

    def _elsewhere(self, thing: Thing) -> tuple[Literal["on", "inside"], Ref] | None:
        """A flat thing or an open container that carries a thing at the start."""
        spoken = {other.category for other in self.stage.things}
        free = [name for name in categories(imported=False) if name not in spoken]
        carriers = [name for name in free if _carries(name, thing.asset)]
        if not carriers:  # too large for a tray or a bowl: on top of something that stands on the surface
            carriers = [name for name in free if self._stands(Thing(name)) == "surface" and _tops(name, thing.asset)]
        if not carriers:
            self.stage.reasons.append(f"there is nothing else for the {thing.category} to start on")
            return None
        carrier = Thing(str(self.rng.choice(sorted(carriers))), spoken=False)
        self.stage.things.append(carrier)
        inside = carrier.asset.affordances.cavities and categories()[carrier.category].role != "furniture"
        return ("inside", Ref(carrier)) if inside else ("on", Ref(carrier, carrier.asset.affordances.support().name))

    def _item(self, thing: Thing) -> Item:
        furniture = categories()[thing.category].role == "furniture"
        if thing.category in SURFACES:
            return Item(id=thing.id, asset=thing.spec, fixed=True)
        if furniture:
            stands = self._stands(thing)
            parent = self.surface.id if stands == "surface" else None
            relation = "attached" if stands == "wall" else "on"
            return Item(id=thing.id, asset=thing.spec, parent=parent, relation=relation, joints=dict(thing.joints), fixed=True)
        if thing.held:
            return Item(id=thing.id, asset=thing.spec, relation="held", pose=Pose())
        relation, at = thing.place or ("on", Ref(self.surface))
        return Item(id=thing.id, asset=thing.spec, parent=at.thing.id, relation=relation, support=at.part)

    # Variety

    def _vary(self, thing: Thing) -> None:
        """Draw the colour and the exact size of a thing where nobody said them."""
        category = categories()[thing.category]
        if thing.color is None:
            thing.color = None if thing.material else self.painter.color(thing, (*self.stage.things, *self.others))
        if thing.size is None:
            self._try(thing, _scaled(category, float(self.rng.uniform(*SCALE))))
        if thing.asset.joints:
            for name, param in category.params.items():
                if isinstance(param.default, int) and not isinstance(param.default, bool) and name not in thing.params:
                    self._try(thing, {name: param.default + int(self.rng.integers(0, 2))})

    def _measure(self, liquid: Thing) -> None:
        """So much of a liquid that what it is in is half full, and what it goes into does not run over."""
        place = liquid.place or ("inside", Ref(self._jug()))
        liquid.place = place
        into = [(e.name, e.args[-1].thing.asset) for e in self.effects if e.name in ("poured", "filled")]
        filling = any(name == "filled" for name, _ in into)
        if filling and place[1].thing.category == "jug":  # it takes a large one
            self._try(place[1].thing, {"height": TALL})
        rooms = [(BRIMFUL if filling else FULL) * _room(place[1].thing.asset)]
        rooms += [(BRIMFUL if name == "filled" else HEAPED) * _room(asset) for name, asset in into]
        param = categories()[liquid.category].params["volume"]
        assert param.low is not None and param.high is not None
        liquid.params["volume"] = round(float(np.clip(min(rooms), param.low, param.high)), 3)

    def _heap(self, grains: Thing, vessel: Asset) -> None:
        """Not more grains than need be where they are shifted; in a vessel with upright walls a column that it takes."""
        cavity = next(iter(vessel.affordances.cavities), None)
        if cavity is None or "widening" not in categories()[grains.category].params:
            return
        if any(e.name in ("poured", "scooped") and e.args[0].thing is grains for e in self.effects):
            grains.params.setdefault("count", SHIFTED)
        half = min(cavity.size[:2]) / 2
        if any(rim.radius > FLARING * half for rim in vessel.affordances.rims):  # as wide above as they begin
            return
        params = categories()[grains.category].params
        ball = float(str(grains.params.get("diameter", params["diameter"].default))) / 2
        low, high = params["spread"].low or 0.0, params["spread"].high or half
        column = {"spread": round(float(np.clip(half - ball - PLAY, low, high)), 4), "widening": 0.0}
        least, most = int(params["count"].low or 1), int(str(grains.params.get("count", params["count"].default)))
        grains.params = {**column, **grains.params}
        for count in range(most, least - 1, -10):
            grains.params["count"] = count
            if grains.asset.size[2] <= COLUMN * cavity.size[2]:
                return

    def _jug(self) -> Thing:
        jug = Thing("jug", spoken=False)
        self.stage.things.append(jug)
        return jug

    def _try(self, thing: Thing, params: dict[str, ParamValue]) -> None:
        """Change parameters, unless the thing could not be built, held or referred to any more."""
        before = dict(thing.params)
        held = _narrowest(thing.asset) <= GRASPABLE
        thing.params = {**params, **before}
        try:
            asset = thing.asset
        except InvalidAsset:
            thing.params = before
            return
        parts = {ref.part for effect in self.effects for ref in effect.args if ref.thing is thing and ref.part}
        parts |= {t.place[1].part for t in self.stage.things if t.place and t.place[1].thing is thing and t.place[1].part}
        there = {c.name for c in asset.affordances.cavities} | {s.name for s in asset.affordances.supports} | set(asset.joints)
        if not parts <= there or (held and _narrowest(asset) > GRASPABLE):
            thing.params = before

    def _fit(self) -> None:
        """Where the sizes drawn leave no room for what goes in: usual sizes, then large holders, then small things too."""
        goal = All(goals=(goal_of(self.effects), *self.stage.starts()))
        placed = [(effect.args[0].thing, effect.args[1].thing) for effect in self.effects if effect.name in ("inside", "on")]
        placed += [(t, t.place[1].thing) for t in self.stage.things if t.place is not None and t.place[0] == "inside"]
        held, holders = {thing for thing, _ in placed}, {holder for _, holder in placed}
        before = {thing: (dict(thing.params), thing.size) for thing in held | holders}
        tries: tuple[tuple[Size | None, Size | None], ...] = ((None, None), ("large", None), ("large", "small"))
        for large, small in tries:
            if not goal_faults(goal, {thing.id: thing.asset for thing in self.stage.things}):
                return
            for thing in held | holders:
                self._resize(thing, large if thing in holders else small)
        if goal_faults(goal, {thing.id: thing.asset for thing in self.stage.things}):
            for thing, (params, size) in before.items():
                thing.params, thing.size = params, size

    def _spread(self) -> None:
        """A larger cloth where it would hardly reach past what it is laid over, and then a smaller thing under it."""
        for effect in self.effects:
            if effect.name == "covers":
                cloth, item = (ref.thing for ref in effect.args)
                for thing, factor in ((cloth, WIDER), (item, NARROWER)):
                    if thing not in self.sized and _overhang(cloth.asset, item.asset) < OVERHANG:
                        self._resize(thing, None)
                        self._try(thing, _scaled(categories()[thing.category], factor * float(self.rng.uniform(*SCALE))))

    def _resize(self, thing: Thing, size: Size | None) -> None:
        """Give a thing its usual dimensions at a size word, unless the brief says its size."""
        if thing in self.sized:
            return
        params = categories()[thing.category].params
        thing.params = {name: value for name, value in thing.params.items() if not params[name].scales}
        thing.size = size

    def _lay_down(self) -> None:
        """Books and the like lie where something is put on them, unless they are themselves to be taken."""
        moved = {effect.args[0].thing for effect in self.effects}
        for thing in {effect.args[1].thing for effect in self.effects if effect.name == "on"} - moved:
            if "lying" in categories()[thing.category].params:
                thing.params["lying"] = True

    # Things lying about

    def _lying_about(self) -> list[Thing]:
        if "object" in self.stage.quantified:  # "all red things": whatever else lay there could be one of them
            return []
        low, high = {"cluttered": CLUTTERED, "tidy": (0, 0)}.get(self.meaning.clutter or "", USUAL)
        free = sum(categories()[thing.category].role != "furniture" for thing in self.stage.things)
        missing = self.meaning.at_least - free
        low, high = max(low, missing), max(high, missing)
        names = self._neutral()
        others: list[Thing] = []
        for _ in range(int(self.rng.integers(low, high + 1))):
            twinned = any(other.category == thing.category for other in others for thing in self.stage.things)
            twin = self._twin() if self.rng.random() < TWIN and not twinned else None
            if twin is None and not names and len(others) < missing:
                names = self._neutral()  # so many that some are of the same kind
            if twin is None and not names:
                break
            thing = twin or Thing(str(self.rng.choice(names)), spoken=False)
            names = [name for name in names if name != thing.category]
            self._vary(thing)
            if "lying" in categories()[thing.category].params:
                thing.params["lying"] = True
            others.append(thing)
        return others

    def _banned(self) -> set[str]:
        """Tags and categories that must not lie about: what "every" ranges over, and what is said to be absent."""
        return self.stage.quantified | {phrase.head for phrase in self.meaning.absent}

    def _neutral(self) -> list[str]:
        spoken = {thing.category for thing in self.stage.things}
        banned = self._banned()
        return sorted(
            name for name, category in categories(imported=False).items()
            if name not in spoken and name not in banned and not (category.all_tags | category.tags) & banned and _small(category)
        )  # fmt: skip

    def _twin(self) -> Thing | None:
        """The like of a thing that was named by its colour, in another colour."""
        banned = self._banned()
        for thing in self.stage.things:
            category = categories()[thing.category]
            alone = sum(other.category == thing.category for other in self.stage.things) == 1
            if (
                self._named_by_color(thing)
                and alone
                and thing.category not in banned
                and not category.all_tags & banned
                and _small(category)
            ):
                colors = [color for color in category.colors if color != thing.color]
                if colors:
                    return Thing(thing.category, color=str(self.rng.choice(colors)), spoken=False)
        return None

    def _named_by_color(self, thing: Thing) -> bool:
        phrases = [
            p
            for c in self.meaning.commands
            for p in (*c.themes, *([c.destination.target] if c.destination and c.destination.target else []))
        ]
        return thing.color is not None and any(p.head == thing.category and p.color == thing.color for p in phrases)

    def _name(self) -> None:
        """Ids: the category, numbered when the brief speaks of several; what lies about is numbered after them."""
        counts: dict[str, int] = {}
        for thing in self.stage.things:
            counts[thing.category] = counts.get(thing.category, 0) + 1
        seen: dict[str, int] = {}
        for thing in (*self.stage.things, *self.others):
            seen[thing.category] = seen.get(thing.category, 0) + 1
            several = counts.get(thing.category, 0) > 1 or seen[thing.category] > 1
            label = categories()[thing.category].label or thing.category
            thing.id = f"{label}_{seen[thing.category]}" if several else label


def _scaled(category: Category, factor: float) -> dict[str, ParamValue]:
    """The category's scaling dimensions times a factor, within their limits, rounded to tenths of a millimetre."""
    scaled: dict[str, ParamValue] = {}
    for name, param in category.params.items():
        if param.scales and isinstance(param.default, float):
            value = param.default * factor
            low = value if param.low is None else max(value, param.low)
            scaled[name] = round(low if param.high is None else min(low, param.high), 4)
    return scaled


def _room(asset: Asset) -> float:
    """Volume of the first cavity of something, roughly, as far as its walls are upright [l]."""
    cavities = asset.affordances.cavities
    if not cavities:
        return 0.0
    x, y, z = cavities[0].size
    return 1000 * x * y * z * (np.pi / 4 if cavities[0].shape == "disc" else 1.0)


def _overhang(cloth: Asset, item: Asset) -> float:
    """How far a cloth reaches past a thing under its middle, at the narrowest [m]."""
    return float((np.sort(cloth.size[:2]) - np.sort(item.size[:2])).min()) / 2


def _narrowest(asset: Asset) -> float:
    return min((grasp.width for grasp in asset.affordances.grasps), default=0.0)


def _small(category: Category) -> bool:
    if category.role == "furniture":
        return False
    asset = build(AssetSpec(category=category.name))
    if asset.matter is not None:  # what is not asked for shall not make every physics step several times as dear
        return False
    size = asset.size
    return max(float(size[0]), float(size[1])) <= SMALL[0] and float(size[2]) <= SMALL[1]


def _tops(name: str, load: Asset) -> bool:
    """Whether furniture of a category has a top with room for a load and nothing over it."""
    if categories()[name].role != "furniture":
        return False
    supports = build(AssetSpec(category=name)).affordances.supports
    size = sorted(load.size[:2] + 0.02)
    return bool(supports) and bool((np.sort(supports[0].size) >= size).all()) and supports[0].headroom > load.size[2] + 0.1


def _carries(name: str, load: Asset) -> bool:
    """Whether a thing of a category is a flat carrier or an open, low container with room for a load."""
    if categories()[name].role == "furniture":
        return False
    asset = build(AssetSpec(category=name))
    need = float(np.hypot(load.size[0], load.size[1])) + 0.02
    cavities = asset.affordances.cavities
    if cavities:
        return cavities[0].opening[2] > 0.7 and min(cavities[0].size[:2]) >= need and cavities[0].size[2] <= 0.1
    supports = asset.affordances.supports
    return bool(supports) and min(supports[0].size) >= need and float(asset.size[2]) <= 0.06
