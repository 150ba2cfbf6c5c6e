"""Pixels of worlds: colour, depth, segmentation, and cameras that say truly where they are."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import mujoco
import numpy as np
import pytest
from forge_scenes import DRAFTS
from task_worlds import STILL, TABLE, kitchen, p

from embodiedsmith.forge.layout import layout
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import CameraSpec, EmbodimentSpec, Pose, Randomization, Scenario, SceneSpec, TaskSpec
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.render import CameraModel, WorldRenderer, camera_model, camera_mount, camera_names

WIDTH, HEIGHT = 320, 240


def scenario() -> Scenario:
    """The kitchen, with a camera from above and one from aside."""
    base = kitchen(p("on", "block", "table"), randomization=STILL)
    cameras = (
        CameraSpec(name="above", position=(0.45, 0.01, TABLE + 1.0), target=(0.45, 0.0, TABLE), fovy=50.0),
        CameraSpec(name="aside", position=(1.0, -0.9, 1.3), target=(0.45, -0.1, 0.75), fovy=40.0),
    )
    return base.model_copy(update={"scene": base.scene.model_copy(update={"cameras": cameras})})


@cache
def world() -> World:
    """After a reset, with a block put below the hand, where all three cameras see it."""
    made = World(scenario())
    made.reset(np.random.default_rng(0))
    at = made.items["block2"].qpos
    made.data.qpos[at : at + 2] = made.tcp()[:2, 3] + (0.05, -0.1)
    mujoco.mj_forward(made.model, made.data)
    return made


def project(camera: CameraModel, point: np.ndarray) -> tuple[np.ndarray, float]:
    """Pixel (u, v) and depth [m] of a world point."""
    local = tf.inverse(camera.extrinsics) @ np.append(point, 1.0)
    u, v, w = camera.intrinsics @ local[:3]
    return np.array([u / w, v / w]), float(w)


def test_pictures_have_the_shapes_and_types_they_say() -> None:
    with WorldRenderer(world(), WIDTH, HEIGHT) as renderer:
        for camera in camera_names(world()):
            rgb, depth, owners = renderer.rgb(camera), renderer.depth(camera), renderer.segmentation(camera)
            assert rgb.shape == (HEIGHT, WIDTH, 3) and rgb.dtype == np.uint8 and rgb.std() > 5
            assert depth.shape == (HEIGHT, WIDTH) and depth.dtype == np.float32 and np.isfinite(depth).all()
            assert owners.shape == (HEIGHT, WIDTH) and owners.dtype == np.int32
            assert owners.min() >= -1 and owners.max() < len(world().owners)
        assert np.array_equal(renderer.rgb("above"), renderer.rgb("above"))
    with WorldRenderer(world(), 64) as square:
        assert square.rgb("above").shape == (64, 64, 3)
        with pytest.raises(UsageError, match="no camera 'abvoe'") as caught:
            square.rgb("abvoe")
        assert caught.value.choices == ("above", "aside", "wrist")


def test_depth_is_the_distance_along_the_axis() -> None:
    """The block's top face and the table, seen from above, within 5 mm."""
    with WorldRenderer(world(), WIDTH, HEIGHT) as renderer:
        depth, owners = renderer.depth("above"), renderer.segmentation("above")
        camera = renderer.camera_model("above")
    block = world().corners("block")
    top = block[:, 2].max()
    centre = np.append(block[:, :2].mean(axis=0), top)
    (u, v), expected = project(camera, centre)
    patch = depth[round(v) - 2 : round(v) + 3, round(u) - 2 : round(u) + 3]
    assert np.abs(patch - expected).max() < 0.005
    seen = depth[owners == world().owners.index("block")]
    assert seen.min() == pytest.approx(expected, abs=0.005)
    _, T_table = world().support("table")
    _, table_depth = project(camera, np.array([0.45, -0.45, T_table[2, 3]]))
    on_table = depth[owners == world().owners.index("table")]
    assert np.abs(np.median(on_table) - table_depth) < 0.01


@pytest.mark.parametrize(
    ("camera", "names"), [("above", ("block", "apple")), ("aside", ("block", "apple")), ("wrist", ("block2",))]
)
def test_intrinsics_and_extrinsics_put_points_on_their_pixels(camera: str, names: tuple[str, ...]) -> None:
    """The middle of what a thing covers is where the camera model projects its middle, and depth leads back to its surface."""
    with WorldRenderer(world(), 640, 480) as renderer:
        model = renderer.camera_model(camera)
        owners, depth = renderer.segmentation(camera), renderer.depth(camera)
    for name in names:
        v, u = np.nonzero(owners == world().owners.index(name))
        corners = world().corners(name)
        pixels = np.array([project(model, c)[0] for c in corners])
        if name != "apple":  # the silhouette of a box is bounded by its corners
            low, high = pixels.min(axis=0), pixels.max(axis=0)
            np.testing.assert_allclose([u.min() - 0.5, v.min() - 0.5], low, atol=1.0)
            np.testing.assert_allclose([u.max() + 0.5, v.max() + 0.5], high, atol=1.0)
        z = depth[v, u]
        K = model.intrinsics
        points = np.stack([(u - K[0, 2]) / K[0, 0] * z, (v - K[1, 2]) / K[1, 1] * z, z, np.ones_like(z)])
        points = (model.extrinsics @ points)[:3].T
        low, high = corners.min(axis=0), corners.max(axis=0)
        assert ((points > low - 0.005) & (points < high + 0.005)).all(axis=1).mean() > 0.98


def test_the_wrist_camera_moves_with_the_hand() -> None:
    made = World(scenario())
    made.reset(np.random.default_rng(0))
    with WorldRenderer(made, 64) as renderer:
        before = renderer.camera_model("wrist").extrinsics
        T_before, picture = made.tcp(), renderer.rgb("wrist")
        action = made.command.copy()
        for _ in range(10):
            action[0] += 0.03
            made.step(action)
        after, T_after = renderer.camera_model("wrist").extrinsics, made.tcp()
        assert not np.array_equal(renderer.rgb("wrist"), picture)
    np.testing.assert_allclose(tf.inverse(T_before) @ before, tf.inverse(T_after) @ after, atol=1e-6)
    assert np.linalg.norm(after[:3, 3] - before[:3, 3]) > 0.05


@pytest.mark.parametrize("robot", ["panda", "panda_mobile", "ur5e"])
def test_a_mount_and_the_observed_tool_give_the_extrinsics_at_any_time(robot: str) -> None:
    made = World(
        Scenario(
            scene=SceneSpec(cameras=scenario().scene.cameras),
            task=TaskSpec(goal=p("near", "mug", "plate")),
            embodiment=EmbodimentSpec(name=robot, base=Pose.planar(0.3, 0.2, 0.0 if robot == "panda_mobile" else 0.75, 0.5)),
            randomization=Randomization(camera=0.05),
        )
    )
    made.reset(np.random.default_rng(0))
    size = (96, 64)
    mounts = {name: camera_mount(made, name, size) for name in camera_names(made)}
    assert {name: mount.frame for name, mount in mounts.items()} == {
        name: "tcp" if name == "wrist" else "world" for name in mounts
    }
    action = made.command.copy()
    for _ in range(5):
        action[made.joint_count - 2] += 0.03
        made.step(action)
    x, y, z, *quat = made.observe()[made.observation_slices["tcp_pose"]]
    for name, mount in mounts.items():
        told = mount.to_json()
        carrier = tf.compose((x, y, z), quat) if told["frame"] == "tcp" else np.eye(4)
        now = camera_model(made, name, size)
        np.testing.assert_allclose(carrier @ tf.compose(told["pose"][:3], told["pose"][3:]), now.extrinsics, atol=1e-6)
        K = now.intrinsics
        assert told["intrinsics"] == [K[0, 0], K[1, 1], K[0, 2], K[1, 2]] and told["intrinsics"][2:] == [47.5, 31.5]


def test_states_are_pictured_as_they_were() -> None:
    made = World(scenario())
    made.reset(np.random.default_rng(0))
    states, live = [], []
    with WorldRenderer(made, 64) as renderer:
        action = made.command.copy()
        for _ in range(6):
            states.append(made.save())
            live.append(renderer.rgb("above"))
            action[0] += 0.05
            made.step(action)
        again = [frame["above"] for frame in renderer.frames(states, ("above",))]
    assert all(np.array_equal(a, b) for a, b in zip(live, again, strict=True))
    assert not np.array_equal(live[0], live[-1])


@pytest.mark.parametrize("name", ["stack", "drawer", "basket"])
def test_default_cameras_see_what_the_task_is_about(name: str) -> None:
    made = World(layout(DRAFTS[name], np.random.default_rng(3)))
    made.reset(np.random.default_rng(0))
    names = [camera.name for camera in made.scenario.scene.cameras]
    assert len(names) >= 2 and "wrist" in camera_names(made)
    free = [i.id for i in made.scenario.scene.items if not i.fixed]
    with WorldRenderer(made, 128) as renderer:
        seen = {camera: renderer.segmentation(camera) for camera in camera_names(made)}
    for item in free:
        sizes = {camera: int((owners == made.owners.index(item)).sum()) for camera, owners in seen.items()}
        assert sum(sizes[camera] >= 12 for camera in names) >= 1, (item, sizes)
    assert all((np.isin(owners, [made.owners.index(i) for i in free])).sum() > 30 for owners in (seen[c] for c in names))


def _picture(seed: int) -> float:
    made = World(scenario())
    made.reset(np.random.default_rng(seed))
    with WorldRenderer(made, 32) as renderer:
        return float(renderer.rgb("above").mean())


def test_worker_processes_render_after_their_parent_did() -> None:
    """Case 28: a renderer made in the parent first must not hang workers."""
    with WorldRenderer(world(), 32) as renderer:
        renderer.rgb("above")
        here = _picture(0)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            assert pool.submit(_picture, 0).result(timeout=60) == here


def test_rendering_needs_no_display_and_nothing_set() -> None:
    code = "import embodiedsmith, test_world_render; print(test_world_render._picture(0) > 1)"
    environment = {k: v for k, v in os.environ.items() if k not in ("MUJOCO_GL", "DISPLAY", "PYOPENGL_PLATFORM")}
    environment["PYTHONPATH"] = os.path.dirname(__file__)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.strip() == "True"
