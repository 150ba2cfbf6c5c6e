"""Rooms: what is said of them, walls round what stands, doorways, and a vehicle that drives from one room to another."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from pydantic import ValidationError

from embodiedsmith.forge import agents
from embodiedsmith.forge.edits import apply, difference
from embodiedsmith.forge.layout import layout
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.standing import PASSING, ROOM, Floor, route, stands
from embodiedsmith.spec import AssetSpec, Brief, Doorway, Item, Pose, RemoveItem, Room, Scenario, Wall
from embodiedsmith.tasks import Session
from embodiedsmith.world import World
from embodiedsmith.world.walls import doorways, pieces

CARRY = "take the bottle from the table in the living room to the counter in the kitchen"


def draft(text: str, seed: int = 0, robot: str = "panda_mobile") -> Scenario:
    return agents.get("rule").propose(Brief(text=text, embodiment=robot), np.random.default_rng(seed)).scenario


@cache
def laid_out(text: str = CARRY, seed: int = 0) -> Scenario:
    return layout(draft(text, seed), np.random.default_rng(seed))


@cache
def world() -> World:
    """Two rooms that tests share; each resets it."""
    return World(laid_out())


# ------------------------------------------------------------------ what is said


@pytest.mark.parametrize(("text", "rooms"), [
    (CARRY, {"living_room": ("table",), "kitchen": ("counter",)}),
    ("把客厅桌子上的瓶子放到厨房的台面上", {"living_room": ("table",), "kitchen": ("counter",)}),
    ("move the mug from the kitchen counter to the table in the bedroom", {"kitchen": ("counter",), "bedroom": ("table",)}),
    ("take the bottle from the table in the kitchen to the counter in the living room",
     {"kitchen": ("table",), "living_room": ("counter",)}),
    ("in the kitchen, put the apple in the fridge", {"kitchen": ("counter", "fridge")}),
    ("put the mug on the plate", {}),
])  # fmt: skip
def test_rooms_are_read_with_what_stands_in_them(text: str, rooms: dict[str, tuple[str, ...]]) -> None:
    scene = draft(text).scene
    assert {room.name: room.furniture for room in scene.rooms} == rooms and scene.walls == ()


def test_a_robot_that_does_not_drive_has_no_walls_and_scenes_without_them_say_nothing_of_them() -> None:
    scene = draft("in the kitchen, put the apple on the plate", robot="panda").scene
    assert scene.rooms == () and "rooms" not in scene.model_dump(mode="json") and "walls" not in scene.model_dump(mode="json")


def test_walls_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValidationError, match="has no length"):
        Wall(start=(1.0, 2.0), end=(1.0, 2.0))
    with pytest.raises(ValidationError, match=r"does not fit into a wall of 2\.00 m"):
        Wall(start=(0.0, 0.0), end=(2.0, 0.0), doorway=Doorway(at=0.3, width=1.1))
    scene = draft(CARRY).scene
    with pytest.raises(ValidationError, match=r"items in rooms must be unique.*the kitchen holds unknown item 'sofa'"):
        type(scene).model_validate(
            {
                **scene.model_dump(),
                "rooms": [{"name": "kitchen", "furniture": ["sofa", "table"]}, {"name": "a", "furniture": ["table"]}],
            }
        )


def test_a_wall_is_what_its_pieces_are() -> None:
    wall = Wall(start=(1.0, 1.0), end=(1.0, 5.0), doorway=Doorway(at=1.5, width=1.0))
    lengths = [2 * piece.half[0] for piece in pieces(wall)]
    assert lengths == pytest.approx([1.0, 2.0]) and [p.centre[1] for p in pieces(wall)] == pytest.approx([1.5, 4.0])
    scene = draft(CARRY).scene.model_copy(update={"walls": (wall,)})
    T = doorways(scene)[0]
    np.testing.assert_allclose(T[:2, 3], (1.0, 2.5), atol=1e-12)
    np.testing.assert_allclose(np.abs(T[:2, 0]), (1.0, 0.0), atol=1e-12)


def test_a_room_holds_what_is_between_its_walls() -> None:
    room = Room(name="kitchen", middle=Pose.planar(1.0, 2.0, 0.0, np.pi / 2), size=(4.0, 1.0))
    assert room.holds(1.4, 3.9) and not room.holds(1.6, 2.0) and not room.holds(1.0, 4.1)
    assert not Room(name="kitchen").holds(0.0, 0.0)


# ------------------------------------------------------------------ where things stand


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", [CARRY, "in the kitchen, put the apple in the fridge"])
def test_every_thing_stands_in_its_room_and_touches_no_wall(text: str, seed: int) -> None:
    scenario = laid_out(text, seed)
    assert Scenario.from_json(scenario.to_json()) == scenario
    scene, base = scenario.scene, scenario.embodiment.base
    assert base is not None and len(doorways(scene)) == len(scene.rooms) - 1
    there = World(scenario)
    there.reset(np.random.default_rng(seed))
    for room in scene.rooms:
        for item in room.furniture:
            assert all(room.holds(x, y) for x, y, _ in there.corners(item)), (room.name, item)
    table = next(room for room in scene.rooms if scene.items[0].id in room.furniture)
    assert table.holds(*base.position[:2])
    walls = {"world"} & {name for pair in there.contacts() for name in pair if "robot" in pair}
    assert not walls and not any(set(pair) == {"world", i.id} for pair in there.contacts() for i in scene.items if not i.fixed)


def test_several_rooms_have_a_camera_each_and_one_room_has_the_usual_ones() -> None:
    usual = ["front", "over_shoulder"]
    assert [c.name for c in laid_out("in the kitchen, put the apple in the fridge").scene.cameras] == usual
    scene = laid_out().scene
    rooms = {room.name: room for room in scene.rooms}
    own = [camera for camera in scene.cameras if camera.name in rooms]
    assert len(own) == 2 and all(rooms[camera.name].holds(*camera.target[:2]) for camera in own)


def test_what_the_layout_decided_of_walls_can_be_repeated_and_a_removed_thing_leaves_its_room() -> None:
    before, after = draft(CARRY), laid_out()
    assert apply(before, difference(before, after)) == after
    scene, shelf = before.scene, Item(id="shelf", asset=AssetSpec(category="shelf"), fixed=True)
    rooms = tuple(
        r.model_copy(update={"furniture": (*r.furniture, *(["shelf"] if r.name == "kitchen" else []))}) for r in scene.rooms
    )
    more = before.model_copy(update={"scene": scene.model_copy(update={"items": (*scene.items, shelf), "rooms": rooms})})
    assert apply(more, RemoveItem(item="shelf")).scene.rooms == scene.rooms


# ------------------------------------------------------------------ driving


def test_a_vehicle_that_drives_into_a_wall_is_stopped_by_it() -> None:
    world().reset(np.random.default_rng(0))
    middle = world().scenario.scene.rooms[0].middle
    assert middle is not None
    back = -np.array([np.cos(middle.yaw), np.sin(middle.yaw)])  # away from the furniture: nothing but the wall is there
    action = world().command.copy()
    touched = False
    for _ in range(120):
        action[:2] += 0.025 * back
        world().step(action)
        touched |= {"robot", "world"} in [set(pair) for pair in world().contacts()]
    here = world().data.qpos[world().robot_qpos[:2]]
    assert touched and np.linalg.norm(action[:2] - here) > 0.5
    assert any(room.holds(*here) for room in world().scenario.scene.rooms)


def test_the_way_to_another_room_goes_through_the_doorway_and_keeps_off_the_walls() -> None:
    session = Session(world())
    session.reset(np.random.default_rng(1))
    control = Controller(session, np.random.default_rng(1))
    floor = Floor(control)
    top = world().support("counter")[1][:3, 3]
    places = stands(control, "counter", [top], floor)
    assert places and {floor.room(place) for place in places} == {"kitchen"} and floor.room(control.base) == "living_room"
    way = [control.base, *route(control, places[0], floor)]
    np.testing.assert_allclose(way[-1][:2], places[0][:2])
    door = doorways(world().scenario.scene)[0]
    nearest = np.inf
    for a, b in pairwise(way):
        for place in np.linspace(a, b, 40):
            assert floor.clear(place, PASSING), floor.nearest(place)
            nearest = min(nearest, float(np.linalg.norm(place[:2] - door[:2, 3])))
    assert nearest < 0.1
    assert floor.clear(np.array([*door[:2, 3], np.arctan2(door[1, 0], door[0, 0])]), ROOM)
