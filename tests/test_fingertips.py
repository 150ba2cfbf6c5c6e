"""Grasps by several fingertips: contacts on real surfaces, wrench closure, finger kinematics, and what holds in a shake."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from embodiedsmith import assets
from embodiedsmith.assets import Asset
from embodiedsmith.bench.hand import LOST, SHAKEN, shaken
from embodiedsmith.motion.fingertips import CLOSURE, Fingertips, Surface, Touch, wrench_closure
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.spec import AssetSpec, Pose
from embodiedsmith.world import transforms as tf


@lru_cache(maxsize=1)
def tips() -> Fingertips:
    return Fingertips(kinematics("ur5e_leap"))


def built(category: str) -> Asset:
    return assets.build(SHAKEN.get(category, AssetSpec(category=category)))


def ring(angles: list[float], radius: float = 0.03) -> list[Touch]:
    """Contacts round an upright cylinder at some azimuths [rad]."""
    normals = [np.array([np.cos(a), np.sin(a), 0.0]) for a in angles]
    return [Touch(radius * normal, normal) for normal in normals]


def test_three_points_round_a_cylinder_close_and_two_or_one_side_do_not() -> None:
    centre, size = np.zeros(3), 0.05
    assert wrench_closure(ring([0.0, 2.1, 4.2]), centre, size) > 0.05
    assert wrench_closure(ring([0.0, np.pi]), centre, size) == 0.0  # points without torsion turn about the line between them
    assert wrench_closure(ring([-0.5, 0.0, 0.5]), centre, size) == 0.0  # all from one side
    assert wrench_closure(ring([0.0, 2.1, 4.2]), centre, size, friction=1e-6) == 0.0  # slippery: it slides out upwards


def test_closure_does_not_depend_on_where_the_world_is() -> None:
    touches, T = ring([0.1, 2.0, 4.0]), tf.translate((0.3, -0.2, 0.1)) @ tf.turn(np.array([0.6, 0.0, 0.8]), 0.7)
    moved = [Touch(T[:3, :3] @ t.point + T[:3, 3], T[:3, :3] @ t.normal) for t in touches]
    before, after = wrench_closure(touches, np.zeros(3), 0.05), wrench_closure(moved, T[:3, 3], 0.05)
    assert 0.6 * before < after < 1.6 * before and after > 0.03  # directions tried and edges of cones turn along


@pytest.mark.parametrize("finger", range(4))
def test_each_finger_reaches_what_its_own_joints_reach(finger: int) -> None:
    rng = np.random.default_rng(finger)
    hand = tips()
    for closing in rng.uniform(0.1, 0.7, 4):
        start = hand._posture(finger, closing)
        target = hand._forward(finger, start) + rng.uniform(-0.008, 0.008, 3)
        joints = hand.inverse(finger, target, start)
        assert joints is not None and np.linalg.norm(hand._forward(finger, joints) - target) < 0.004
    assert hand.inverse(finger, np.array([0.0, 0.3, 0.3]), start) is None


@pytest.mark.parametrize("category", ["can", "apple", "brick"])
def test_contacts_lie_on_the_surface_and_the_fingers_go_there(category: str) -> None:
    asset, hand = built(category), tips()
    surface, grasp = Surface(asset), asset.affordances.grasps[0]
    T = tf.matrix(grasp.pose)
    shaped = hand.grasp(surface, asset, T, grasp.width)
    assert shaped is not None and shaped.taking(grasp.width) == pytest.approx(1.0)
    low, high = (np.asarray(corner) for corner in asset.extents)
    middle = (tf.inverse(T) @ np.append((low + high) / 2, 1.0))[:3]
    good = [
        t
        for t in hand.touches(surface, T, grasp.width)
        if wrench_closure(t, middle, float(np.linalg.norm(high - low)) / 2) > CLOSURE
    ]
    assert good
    for touch in good[0]:
        point = T[:3, :3] @ touch.point + T[:3, 3]
        outside = point + 0.002 * (T[:3, :3] @ touch.normal)
        again = surface.met(outside, -(T[:3, :3] @ touch.normal))
        assert again is not None and np.linalg.norm(again.point - point) < 1e-4
    gap = [hand._forward(k, np.asarray(shaped.open_qpos)[hand._order[k]]) for k in (0, 2)]
    shut = [hand._forward(k, np.asarray(shaped.closed_qpos)[hand._order[k]]) for k in (0, 2)]
    assert np.linalg.norm(gap[0] - gap[1]) > np.linalg.norm(shut[0] - shut[1]) + 0.04


def test_what_is_too_thin_for_closure_is_left_to_the_hand_as_described() -> None:
    asset = built("box")
    grasp = next(g for g in asset.affordances.grasps if g.kind == "rim")
    assert tips().grasp(Surface(asset), asset, tf.matrix(grasp.pose), grasp.width) is None


@pytest.mark.parametrize("category", ["can", "brick", "orange"])
def test_a_cylinder_a_box_and_a_ball_are_held_through_a_shake(category: str) -> None:
    found = shaken(SHAKEN[category], Pose.planar(-0.07, -0.07, 0.0, -0.46), 0)
    assert found.held and found.moved < LOST and found.fingertips
