"""Action spaces for many robots at once: the same rows in any company, the same tools as the engine's, elbows that stay."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from embodiedsmith import embodiments
from embodiedsmith.embodiments.actions import SPACES, ActionSpace
from embodiedsmith.embodiments.chains import Chain
from embodiedsmith.embodiments.turns import multiply, quaternion_of, rotate, rotation_vector

ROWS = 64
CASES = [
    (name, space)
    for name in embodiments.names()
    for space, (_, base) in SPACES.items()
    if base == "position" or embodiments.get(name).base.joints
]


def commands(name: str, rows: int = ROWS, spread: float = 0.2) -> np.ndarray:
    """Canonical actions about home, within limits."""
    robot, rng = embodiments.get(name), np.random.default_rng(3)
    space = ActionSpace(robot, "joint_position")
    hands = [x for arm in robot.arms for x in arm.gripper.action(0.3)]
    home = np.array([*(0.3, -0.2, 0.7)[: len(robot.base.joints)], *(q for arm in robot.arms for q in arm.home), *hands])
    moved = home + np.where(np.arange(len(home)) < len(home) - len(hands), rng.normal(0, spread, (rows, len(home))), 0.0)
    return space.decode_many(moved, moved)


def said(space: ActionSpace, current: np.ndarray) -> np.ndarray:
    """Actions of a space a small step away from commands."""
    rng = np.random.default_rng(4)
    ahead = current + rng.normal(0, 0.01, current.shape)
    return np.stack([space.encode(b[None], a)[0] for a, b in zip(current, ahead, strict=True)])


def engine_poses(name: str, joints: np.ndarray, arm: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and rotations of a tool by MuJoCo, in the frame of the base."""
    robot = embodiments.get(name)
    model = robot.build().compile()
    data = mujoco.MjData(model)
    found = []
    for row in joints:
        for joint, value in zip(robot.arms[arm].joints, row, strict=True):
            data.joint(joint).qpos = value
        mujoco.mj_kinematics(model, data)
        site = data.site(robot.arms[arm].tcp_site)
        found.append((site.xpos.copy(), site.xmat.reshape(3, 3).copy()))
    return np.array([p for p, _ in found]), np.array([R for _, R in found])


@pytest.mark.parametrize(("name", "space_name"), CASES)
def test_a_row_has_the_same_bits_in_any_company(name: str, space_name: str) -> None:
    space = ActionSpace(embodiments.get(name), space_name)
    current = commands(name)
    actions = said(space, current)
    together = space.decode_many(actions, current)
    for rows in (slice(0, 1), slice(5, 12), slice(63, 64)):
        assert np.array_equal(space.decode_many(actions[rows], current[rows]), together[rows])
    assert np.array_equal(space.decode(actions[9], current[9]).action, together[9])


@pytest.mark.parametrize("name", embodiments.names())
def test_tools_are_where_the_engine_has_them(name: str) -> None:
    robot = embodiments.get(name)
    model = robot.build().compile()
    for k, arm in enumerate(robot.arms):
        joints = np.array(arm.home) + np.random.default_rng(k).normal(0, 0.5, (8, len(arm.joints)))
        positions, quaternions = Chain(model, arm).forward(joints)
        wanted, turned = engine_poses(name, joints, k)
        assert np.allclose(positions, wanted, atol=1e-12)
        for axis in np.eye(3):
            assert np.allclose(rotate(quaternions, np.tile(axis, (8, 1))), turned @ axis, atol=1e-12)


@pytest.mark.parametrize("name", ["panda", "ur5e", "aloha"])
def test_small_steps_move_joints_least(name: str) -> None:
    """No other joints close by bring the tool there with less motion: the step has no part that leaves the tool alone."""
    robot = embodiments.get(name)
    model = robot.build().compile()
    chain = Chain(model, robot.arms[0])
    start = np.array(robot.arms[0].home) + np.random.default_rng(0).normal(0, 0.1, (ROWS, len(robot.arms[0].joints)))
    positions, quaternions = chain.forward(start)
    positions = positions + np.random.default_rng(1).normal(0, 0.002, positions.shape)
    quaternions = multiply(quaternions, quaternion_of(np.random.default_rng(2).normal(0, 0.01, (ROWS, 3))))
    found, errors = chain.inverse(positions, quaternions, start)
    assert errors.max() < 1e-9
    data, jacobian = mujoco.MjData(model), np.empty((6, model.nv))
    site = model.site(robot.arms[0].tcp_site).id
    dofs = [model.joint(j).dofadr[0] for j in robot.arms[0].joints]
    for a, b in zip(start, found, strict=True):
        for joint, value in zip(robot.arms[0].joints, 0.5 * (a + b), strict=True):
            data.joint(joint).qpos = value
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], site)
        J = jacobian[:, dofs]
        idle = (np.eye(len(dofs)) - np.linalg.pinv(J) @ J) @ (b - a)
        assert np.linalg.norm(idle) < 0.02 * np.linalg.norm(b - a)


def test_the_way_home_leaves_the_tool_alone_and_ends_at_home() -> None:
    robot = embodiments.get("panda")
    chain = Chain(robot.build().compile(), robot.arm)
    home = np.array(robot.arm.home)
    positions, quaternions = chain.forward(home[None])
    turned = np.linalg.svd(_jacobian(chain, home))[2][6]  # the elbow's way
    joints, errors = chain.inverse(positions, quaternions, (home + 0.5 * turned)[None])
    assert errors.max() < 1e-9 and np.abs(joints - home).max() > 0.1
    for _ in range(200):
        joints, errors = chain.inverse(positions, quaternions, joints, pull=0.05)
        assert errors.max() < 1e-9
    assert np.abs(joints - home).max() < 1e-3
    still, _ = chain.inverse(positions, quaternions, joints, pull=0.05)
    assert np.abs(still - joints).max() < 1e-4


def _jacobian(chain: Chain, joints: np.ndarray) -> np.ndarray:
    steps = np.vstack([joints, joints + 1e-6 * np.eye(len(joints))])
    positions, quaternions = chain.forward(steps)
    first = np.tile(quaternions[0] * (1, -1, -1, -1), (len(joints), 1))
    return np.hstack([positions[1:] - positions[0], rotation_vector(multiply(first, quaternions[1:]))]).T / 1e-6


def test_a_tool_led_about_for_long_keeps_its_elbow() -> None:
    robot = embodiments.get("panda")
    home = np.array([*robot.arm.home, 0.0])
    chain = Chain(robot.build().compile(), robot.arm)
    position, quaternion = chain.forward(home[None, :7])
    off = {}
    for pull in (0.0, None):
        space, rng = ActionSpace(robot, "ee_delta", pull=pull), np.random.default_rng(0)
        current, speed = np.tile(home, (8, 1)), np.zeros((8, 6))
        for _ in range(1000):
            speed = 0.95 * speed + rng.normal(0, 1, (8, 6)) * (0.0015, 0.0015, 0.0015, 0.006, 0.006, 0.006)
            there, turned = chain.forward(current[:, :7])
            back = turned * (1, -1, -1, -1)
            towards = np.hstack([rotate(back, position - there), rotation_vector(multiply(back, np.tile(quaternion, (8, 1))))])
            current = space.decode_many(np.hstack([speed + 0.08 * towards, np.zeros((8, 1))]), current)
        joints, _ = chain.inverse(np.tile(position, (8, 1)), np.tile(quaternion, (8, 1)), current[:, :7])
        off[pull] = float(np.median(np.abs(joints - home[:7]).max(axis=1)))
    assert off[None] < 0.05 < off[0.0]


def test_joints_stay_within_their_limits() -> None:
    robot = embodiments.get("panda")
    space = ActionSpace(robot, "ee_delta")
    chain = Chain(robot.build().compile(), robot.arm)
    current = commands("panda")
    for _ in range(60):  # upwards, until the arm is stretched and beyond
        current = space.decode_many(np.tile([0.0, 0.0, -0.03, 0.0, 0.05, 0.05, 0.5], (ROWS, 1)), current)
        assert (current[:, :7] >= chain.low).all() and (current[:, :7] <= chain.high).all()
    assert np.isfinite(current).all()


def test_rotation_vectors_and_quaternions_are_each_others_inverse() -> None:
    vectors = np.random.default_rng(0).normal(0, 1, (200, 3))
    vectors *= (np.linspace(1e-9, np.pi - 1e-6, 200) / np.linalg.norm(vectors, axis=1))[:, None]
    assert np.allclose(rotation_vector(quaternion_of(vectors)), vectors, atol=1e-9)
    assert np.allclose(rotation_vector(-quaternion_of(vectors)), vectors, atol=1e-9)
    assert np.array_equal(rotation_vector(quaternion_of(np.zeros((1, 3)))), np.zeros((1, 3)))


def test_wrong_shapes_are_refused() -> None:
    space = ActionSpace(embodiments.get("panda"), "ee_delta")
    with pytest.raises(embodiments.EmbodimentError, match=r"actions \(3, 7\) and commands \(2, 8\) have wrong shapes"):
        space.decode_many(np.zeros((3, 7)), np.zeros((2, 8)))
