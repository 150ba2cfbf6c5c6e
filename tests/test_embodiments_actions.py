"""Action spaces: encoding loses nothing, decoding brings it back."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from embodiedsmith import embodiments
from embodiedsmith.embodiments.actions import SPACES, ActionSpace

CASES = [
    (name, space)
    for name in embodiments.names()
    for space, (_, base) in SPACES.items()
    if base == "position" or embodiments.get(name).base.joints
]


def trajectory(name: str, steps: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """A start and a smooth random canonical trajectory from it, grippers closing."""
    robot = embodiments.get(name)
    hands = [arm.gripper for arm in robot.arms]
    opened, closed = ([x for hand in hands for x in hand.action(closing)] for closing in (0.0, 1.0))
    start = np.array([*(0.3, -0.2, 0.7)[: len(robot.base.joints)], *(q for arm in robot.arms for q in arm.home), *opened])
    rng = np.random.default_rng(7)
    path = start + np.cumsum(rng.normal(0, 0.012, (steps, len(start))), axis=0)
    path[:, -len(opened) :] = np.linspace(opened, closed, steps)
    return start, path


@pytest.mark.parametrize(("name", "space_name"), CASES)
def test_decoding_what_was_encoded_brings_tools_base_and_gripper_along_the_same_path(name: str, space_name: str) -> None:
    robot = embodiments.get(name)
    space, poses = ActionSpace(robot, space_name), ActionSpace(robot, "ee_pose")
    start, path = trajectory(name)
    encoded = space.encode(path, start)
    assert encoded.shape == (len(path), space.size) and len(set(space.names)) == space.size
    current, decoded = start, []
    for row in encoded:
        result = space.decode(row, current)
        assert result.position_error < 1e-6 and result.rotation_error < 1e-6
        current = result.action
        decoded.append(current)
    n = len(robot.base.joints)
    assert np.allclose(np.array(decoded)[:, :n], path[:, :n], atol=1e-9)
    assert np.allclose(np.array(decoded)[:, -1], path[:, -1])
    assert np.allclose(poses.encode(np.array(decoded), start), poses.encode(path, start), atol=1e-6)


def test_six_joints_come_back_exactly() -> None:
    space = ActionSpace(embodiments.get("ur5e"), "ee_delta")
    start, path = trajectory("ur5e")
    current = start
    for row, wanted in zip(space.encode(path, start), path, strict=True):
        current = space.decode(row, current).action
        assert np.allclose(current, wanted, atol=1e-6)


def test_poses_are_those_of_the_model_in_the_frame_of_its_base() -> None:
    robot = embodiments.get("panda_mobile")
    space = ActionSpace(robot, "ee_pose")
    start, path = trajectory("panda_mobile", 3)
    model = robot.build().compile()
    data = mujoco.MjData(model)
    for row, action in zip(space.encode(path, start), path, strict=True):
        for joint, value in zip(space.canonical_names[:-1], action, strict=False):
            data.joint(joint).qpos = value
        mujoco.mj_kinematics(model, data)
        base, tool = data.body("base"), data.site("tcp")
        turned = base.xmat.reshape(3, 3).T
        assert np.allclose(row[3:6], turned @ (tool.xpos - base.xpos), atol=1e-9)
        rotation = np.empty(9)
        mujoco.mju_quat2Mat(rotation, row[6:10])
        assert np.allclose(rotation.reshape(3, 3), turned @ tool.xmat.reshape(3, 3), atol=1e-9)


def test_quaternions_do_not_flip_sign() -> None:
    robot = embodiments.get("panda")
    space = ActionSpace(robot, "ee_pose")
    start = np.array([*robot.arm.home, 0.0])
    path = np.repeat(start[None], 80, axis=0)
    path[:, 6] = np.linspace(-2.8, 2.8, 80)
    quaternions = space.encode(path, start)[:, 3:7]
    assert np.allclose(np.linalg.norm(quaternions, axis=1), 1.0)
    assert (np.sum(quaternions[1:] * quaternions[:-1], axis=1) > 0.99).all()


def test_deltas_are_in_the_tools_own_frame() -> None:
    space = ActionSpace(embodiments.get("panda"), "ee_delta")
    start = np.array([*embodiments.get("panda").arm.home, 0.5])
    pose = ActionSpace(embodiments.get("panda"), "ee_pose")
    before = pose.encode(start[None], start)[0]
    down = pose.encode(space.decode([0, 0, 0.02, 0, 0, 0, 0.5], start).action[None], start)[0]
    assert np.allclose(down[:3] - before[:3], [0, 0, -0.02], atol=1e-6)  # the tool's z points down at home
    turned = pose.encode(space.decode([0, 0, 0, 0, 0, 0.1, 0.5], start).action[None], start)[0]
    assert np.allclose(turned[:3], before[:3], atol=1e-6)
    product = np.empty(4)
    mujoco.mju_mulQuat(product, before[3:7] * (1, -1, -1, -1), turned[3:7])
    assert abs(product @ [np.cos(0.05), 0, 0, np.sin(0.05)]) == pytest.approx(1.0, abs=1e-9)


def test_base_velocity_is_in_the_bases_own_frame() -> None:
    robot = embodiments.get("panda_mobile")
    space = ActionSpace(robot, "base_velocity", control_dt=0.05)
    start = np.array([1.0, 2.0, np.pi / 2, *robot.arm.home, 0.0])
    action = space.decode([0.4, 0.0, 0.2, *robot.arm.home, 0.0], start).action
    assert np.allclose(action[:3], [1.0, 2.02, np.pi / 2 + 0.01])
    assert space.names[:3] == ("base_vx", "base_vy", "base_wz")


def test_out_of_reach_gives_the_nearest_and_how_far_it_is() -> None:
    robot = embodiments.get("panda")
    space = ActionSpace(robot, "ee_pose")
    start = np.array([*robot.arm.home, 0.0])
    result = space.decode([3.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0], start)
    assert np.isfinite(result.action).all() and 2.0 < result.position_error < 2.6


def test_a_start_a_hair_beyond_a_limit_decodes_as_usual() -> None:
    robot = embodiments.get("panda")
    start = np.array([*robot.arm.home, 0.0])
    start[5] = 3.7525 + 1e-8
    result = ActionSpace(robot, "ee_delta").decode([0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0], start)
    assert result.position_error < 1e-6 and result.rotation_error < 1e-6
    joints = ActionSpace(robot, "joint_position").decode(start, start)
    assert joints.action[5] == 3.7525


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ActionSpace(embodiments.get("panda"), "ee_twist"), r"no action space is called 'ee_twist'(.|\n)*ee_delta"),
        (lambda: ActionSpace(embodiments.get("panda"), "base_velocity"), "panda stands still"),
        (lambda: ActionSpace(embodiments.get("panda"), "ee_delta").decode([0.0] * 6, np.zeros(8)), "7 components"),
        (lambda: ActionSpace(embodiments.get("panda"), "ee_pose").decode([0.4, 0, 0.4, 0, 0, 0, 0, 0], np.zeros(8)), "is zero"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, text: str) -> None:
    with pytest.raises(embodiments.EmbodimentError, match=text):
        make()  # type: ignore[operator]
