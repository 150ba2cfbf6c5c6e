"""What tells one thing of a scene from the others of its kind: colour, material, size, where it is, what it is beside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from embodiedsmith import assets
from embodiedsmith.spec import Item, Predicate, SceneSpec

_SIZES = ("small", "medium", "large")
BESIDE = ("left_of", "right_of", "in_front_of", "behind", "between", "near")
"""Predicates that can tell a thing by what is beside it."""
_ENDS = (
    ("leftmost", "left_of", "right_of"), ("rightmost", "right_of", "left_of"),
    ("nearest", "in_front_of", "behind"), ("farthest", "behind", "in_front_of"),
)  # fmt: skip
"""What one at the end of a row is called, and the relations, one the inverse of the other, that it has to the rest."""


@dataclass(frozen=True)
class Look:
    """What one can see of an item."""

    category: str
    color: str
    material: str
    size: str


@dataclass(frozen=True)
class Telling:
    """What is to be said of an item; an empty field is not said."""

    category: str
    color: str = ""
    material: str = ""
    size: str = ""
    """`small`, `medium`, `large`, or by comparison `smaller`, `smallest`, `larger`, `largest`."""
    carrier: Item | None = None
    """The item itself, when it is told by what carries it."""
    row: str = ""
    """Where it stands among its rivals: `leftmost`, `rightmost`, `nearest`, `farthest`."""
    beside: Predicate | None = None
    """What holds of it at the start and tells it from others."""
    rivals: tuple[str, ...] = ()
    """Items that nothing tells it from, itself among them, as the scene lists them; empty when it is told apart."""

    @property
    def words(self) -> tuple[str, str, str, str]:
        """What is said before its name, and the name."""
        return self.category, self.color, self.material, self.size


class Looks:
    """The items of one scene as one sees them; `initial` are relations that hold at the start."""

    def __init__(self, scene: SceneSpec, initial: Iterable[Predicate] = ()) -> None:
        self._scene = scene
        self._initial = [p for p in initial if p.name in BESIDE]
        self._looks = {item.id: _look(item) for item in scene.items}

    def of(self, item: str) -> Look:
        """What one sees of an item; raises KeyError naming the items there are."""
        return self._looks[self._scene.item(item).id]

    def same(self, item: str) -> tuple[str, ...]:
        """Every item that looks like it, itself among them, as the scene lists them."""
        return tuple(other for other, look in self._looks.items() if look == self.of(item))

    def like(self, telling: Telling) -> tuple[str, ...]:
        """Every item that the same words before the name are said of."""
        return tuple(i.id for i in self._scene.items if self.telling(i.id).words == telling.words)

    def telling(self, item: str, *, deep: bool = True) -> Telling:
        """What is to be said of an item: colour, material and size where the scene gives them, and what else tells it apart.

        `deep`: whether where it is may be said, too.
        """
        look, spec = self.of(item), self._scene.item(item).asset
        color = look.color if spec.color is not None and len(assets.category(look.category).colors) > 1 else ""
        material = look.material if spec.material is not None else ""
        size = look.size if look.size != "medium" else ""
        rivals = [
            (other, peer)
            for other, peer in self._looks.items()
            if other != item and peer.category == look.category and (not color or peer.color == color)
            if (not material or peer.material == material) and (not size or peer.size == size)
        ]
        if not color and any(peer.color != look.color for _, peer in rivals):
            color = look.color
            rivals = [(other, peer) for other, peer in rivals if peer.color == color]
        if not size and any(peer.size != look.size for _, peer in rivals):
            size = _compared(look.size, [peer.size for _, peer in rivals])
            rivals = [(other, peer) for other, peer in rivals if peer.size == look.size]
        if not material and any(peer.material != look.material for _, peer in rivals):
            material = look.material
            rivals = [(other, peer) for other, peer in rivals if peer.material == material]
        told = Telling(look.category, color, material, size)
        return self._placed(item, told, [other for other, _ in rivals], deep)

    def _placed(self, item: str, told: Telling, rivals: list[str], deep: bool) -> Telling:
        """The one way to say where it is that tells it from most rivals."""
        if not rivals:
            return told
        ways: list[tuple[list[str], Telling]] = [(rivals, told)]
        thing = self._scene.item(item)
        if deep and thing.parent is not None and not self.telling(thing.parent, deep=False).rivals:
            left = [rival for rival in rivals if _where(self._scene.item(rival)) == _where(thing)]
            ways.append((left, replace(told, carrier=thing)))
        if row := self._end_of_row(item, rivals):
            ways.append(([], replace(told, row=row)))
        for predicate in self._initial if deep else ():
            others = predicate.args[1:]
            if predicate.args[0] == item and not any(self.telling(other, deep=False).rivals for other in others):
                shared = {p.args[0] for p in self._initial if (p.name, p.args[1:]) == (predicate.name, others)}
                ways.append(([rival for rival in rivals if rival in shared], replace(told, beside=predicate)))
        left, best = min(ways, key=lambda way: len(way[0]))
        return replace(best, rivals=tuple(i.id for i in self._scene.items if i.id == item or i.id in left) if left else ())

    def _end_of_row(self, item: str, rivals: list[str]) -> str:
        """Whether an item stands at an end of a row of all its rivals at the start, as relations between them say."""
        for word, name, inverse in _ENDS:
            pairs = {p.args for p in self._initial if p.name == name}
            pairs |= {(p.args[1], p.args[0]) for p in self._initial if p.name == inverse}
            reached, todo = {item}, [item]
            while todo:
                at = todo.pop()
                found = {after for before, after in pairs if before == at and after in rivals} - reached
                reached |= found
                todo += sorted(found)
            if reached >= set(rivals):
                return word
        return ""


def _look(item: Item) -> Look:
    category = assets.category(item.asset.category)
    return Look(
        item.asset.category,
        item.asset.color or category.colors[0],
        item.asset.material or category.materials[0],
        item.asset.size if category.comes_in_sizes else "medium",
    )


def _where(item: Item) -> tuple[str | None, str, str | None]:
    return item.parent, item.relation, item.support


def _compared(size: str, others: list[str]) -> str:
    """The size word of a thing among others: by comparison when it is the largest or the smallest of them all."""
    rank = _SIZES.index(size)
    ranks = [_SIZES.index(other) for other in others]
    if size != "medium" or not (rank > max(ranks) or rank < min(ranks)):
        return size
    kind = "large" if rank > max(ranks) else "small"
    return f"{kind}{'r' if len(others) == 1 else 'st'}" if kind == "large" else f"{kind}{'er' if len(others) == 1 else 'est'}"
