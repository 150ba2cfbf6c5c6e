"""The rooms of a scene: those that the words name, each with its furniture."""

from __future__ import annotations

from embodiedsmith.forge.language.meaning import Meaning
from embodiedsmith.spec import Item, Room, SceneSpec

MOST = 2
"""Rooms that a scene can have."""
AT_HOME: dict[str, frozenset[str]] = {
    "kitchen": frozenset({"counter", "fridge", "base_cabinet", "wall_cabinet", "microwave"}),
}
"""Furniture that belongs in a room when nobody says where it is."""


def rooms_of(meaning: Meaning, scene: SceneSpec) -> tuple[Room, ...]:
    """The rooms that a brief names, with what stands on the floor of each: what is said to, or else what belongs there.

    What belongs nowhere stands in the first room that is not the home of other things; in a scene of one room, in that.
    """
    names = tuple(dict.fromkeys(room.name for room in meaning.rooms))
    if len(names) > 1:  # "in the house, take the cup from the kitchen to the bedroom"
        names = tuple(name for name in names if name != "room") if len(names) > MOST or "room" in names else names
    names = names[:MOST]
    if not names:
        return ()
    floor = [item for item in scene.items if item.fixed and item.parent is None]
    said = {room.holds: room.name for room in reversed(meaning.rooms) if room.holds is not None and room.name in names}
    where = {_carrier(scene, item).id: said[item.asset.category] for item in scene.items if item.asset.category in said}
    common = next((name for name in names if name not in AT_HOME), names[0])
    for item in floor:
        home = next((name for name in names if item.asset.category in AT_HOME.get(name, ())), common)
        where.setdefault(item.id, home)
    return tuple(Room(name=name, furniture=tuple(i.id for i in floor if where[i.id] == name)) for name in names)


def _carrier(scene: SceneSpec, item: Item) -> Item:
    """The furniture on the floor that carries an item in the end."""
    while item.parent is not None:
        item = scene.item(item.parent)
    return item
