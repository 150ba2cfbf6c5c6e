"""Pixels of a world: colour, depth and segmentation from named cameras, and what a camera is.

A renderer holds an OpenGL context: make it in the process that uses it, close it (or use it in a `with`), never fork one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import mujoco
import numpy as np
from numpy.typing import NDArray

from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import ROBOT
from embodiedsmith.world.liquid.painting import LiquidPainter
from embodiedsmith.world.world import World

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class CameraModel:
    """A pinhole camera at one instant."""

    intrinsics: tf.Float
    """Camera matrix (3, 3) [pixels]: x right, y down, z forward."""
    extrinsics: tf.Float
    """World from camera (4, 4) [m], camera axes x right, y down, z forward (as OpenCV)."""
    size: tuple[int, int]
    """Width and height [pixels]."""


@dataclass(frozen=True)
class CameraMount:
    """A pinhole camera throughout one attempt: what it is, and where it is fixed."""

    intrinsics: tuple[float, float, float, float]
    """Focal lengths fx, fy and principal point cx, cy [pixels]: x right, y down."""
    frame: str
    """What carries it: `world`; `tcp`, the tool centre point (observed as `tcp_pose`); or `robot/<body>`."""
    T_frame_camera: tf.Float
    """Pose (4, 4) in that frame [m], camera axes x right, y down, z forward (as OpenCV)."""

    def to_json(self) -> dict[str, Any]:
        """As JSON values: `intrinsics`, `frame`, and `pose`: x, y, z [m], then a quaternion wxyz."""
        T = self.T_frame_camera
        pose = [*T[:3, 3].tolist(), *tf.quaternion(T[:3, :3]).tolist()]
        return {"intrinsics": list(self.intrinsics), "frame": self.frame, "pose": pose}


class WorldRenderer:
    """Renders one world at one picture size.

    Args:
        world: What to look at; its present state is drawn.
        width: Picture width [pixels].
        height: Picture height [pixels].
        shadows: Draw shadows: about five times slower on a software renderer.
        antialias: Draw smooth edges: two to three times slower on a software renderer.

    Raises:
        SmithError: no OpenGL context can be made here.
    """

    def __init__(
        self, world: World, width: int = 128, height: int | None = None, *, shadows: bool = False, antialias: bool = False
    ) -> None:
        self.world = world
        self.width, self.height = width, height or width
        self._shadows = shadows
        world.model.vis.quality.offsamples = 4 if antialias else 0  # read once, when the context is made
        try:
            self._renderer = mujoco.Renderer(world.model, self.height, self.width)
        except (RuntimeError, ImportError, AttributeError, mujoco.FatalError) as error:
            raise SmithError(
                f"cannot make an OpenGL context: {error}",
                remedy="install Mesa's EGL (`make system`, as root) and set MUJOCO_GL=egl; `smith doctor` checks",
            ) from error

        self._liquids = None if world.liquids is None else LiquidPainter(world, self._renderer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the context."""
        self._renderer.close()

    def rgb(self, camera: str) -> Pixels:
        """Colour picture (height, width, 3), uint8."""
        self._draw(camera)
        out: Pixels = self._renderer.render()
        return out

    def depth(self, camera: str) -> NDArray[np.float32]:
        """Distance along the optical axis [m], shape (height, width), float32."""
        self._renderer.enable_depth_rendering()
        try:
            self._draw(camera)
            out: NDArray[np.float32] = self._renderer.render()
        finally:
            self._renderer.disable_depth_rendering()
        return out

    def segmentation(self, camera: str) -> NDArray[np.int32]:
        """Owner of each pixel as an index into `world.owners`, -1 where nothing is; shape (height, width)."""
        self._renderer.enable_segmentation_rendering()
        try:
            self._draw(camera)
            raw = self._renderer.render()
        finally:
            self._renderer.disable_segmentation_rendering()
        ids, kinds = raw[..., 0], raw[..., 1]
        is_geom = kinds == mujoco.mjtObj.mjOBJ_GEOM.value
        out = np.full(ids.shape, -1, dtype=np.int32)
        out[is_geom] = self.world.geom_owner[ids[is_geom]]
        is_liquid = kinds == mujoco.mjtObj.mjOBJ_BODY.value
        for item, index in self.world.items.items():
            out[is_liquid & (ids == index.body)] = self.world.owners.index(item)
        is_flex = kinds == mujoco.mjtObj.mjOBJ_FLEX.value
        out[is_flex] = self.world.solid_owner[self.world.model.ngeom + ids[is_flex]]
        return out

    def camera_model(self, camera: str) -> CameraModel:
        """Intrinsics and extrinsics of a camera as it stands now."""
        return camera_model(self.world, camera, (self.width, self.height))

    def frames(self, states: Iterable[NDArray[np.float64]], cameras: tuple[str, ...]) -> Iterator[dict[str, Pixels]]:
        """Pictures of saved states, one dict of camera name to picture a state."""
        for state in states:
            self.world.restore(state)
            yield {camera: self.rgb(camera) for camera in cameras}

    def _draw(self, camera: str) -> None:
        index = camera_id(self.world, camera)
        mujoco.mj_camlight(self.world.model, self.world.data)
        self._renderer.update_scene(self.world.data, index)
        if self._liquids is not None:
            self._liquids.add()
        self._renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = self._shadows


def camera_names(world: World) -> tuple[str, ...]:
    """Names of the scene's cameras, then the robot's."""
    return (*(c.name for c in world.scenario.scene.cameras), *(c.name for c in world.robot.cameras))


def camera_id(world: World, name: str) -> int:
    """Index of a camera in the model; raises UsageError naming the cameras there are."""
    if name in {c.name for c in world.robot.cameras}:
        return int(world.model.camera(ROBOT + name).id)
    if name not in {c.name for c in world.scenario.scene.cameras}:
        raise UsageError(f"no camera '{name}'", choices=camera_names(world))
    return int(world.model.camera(name).id)


def camera_model(world: World, camera: str, size: tuple[int, int]) -> CameraModel:
    """Intrinsics and extrinsics of a camera as it stands now, for pictures of `size` (width, height); needs no OpenGL."""
    index = camera_id(world, camera)
    width, height = size
    mujoco.mj_camlight(world.model, world.data)  # a step leaves cameras where they were
    f = 0.5 * height / np.tan(np.deg2rad(world.model.cam_fovy[index]) / 2)
    K = np.array([[f, 0, (width - 1) / 2], [0, f, (height - 1) / 2], [0, 0, 1.0]])
    T = np.eye(4)
    T[:3, :3] = world.data.cam_xmat[index].reshape(3, 3) @ np.diag([1.0, -1.0, -1.0])
    T[:3, 3] = world.data.cam_xpos[index]
    return CameraModel(K, T, size)


def camera_mount(world: World, camera: str, size: tuple[int, int]) -> CameraMount:
    """What a camera is and where it is fixed in the attempt the world was reset for, for pictures of `size` (width, height)."""
    seen = camera_model(world, camera, size)
    model, K = world.model, seen.intrinsics
    body = int(model.cam_bodyid[camera_id(world, camera)])
    rigid = model.body_weldid[body]
    if rigid == 0:
        frame, T = "world", np.eye(4)
    elif (arm := _arm_carrying(world, rigid)) is not None:
        frame, T = f"tcp_{arm}" if arm else "tcp", world.tcp(arm)
    else:
        frame, T = model.body(body).name, np.eye(4)
        T[:3, :3], T[:3, 3] = world.data.xmat[body].reshape(3, 3), world.data.xpos[body]
    return CameraMount((K[0, 0], K[1, 1], K[0, 2], K[1, 2]), frame, tf.inverse(T) @ seen.extrinsics)


def _arm_carrying(world: World, rigid: int) -> int | None:
    """The arm whose tool is rigidly on a body; None: no arm's is."""
    on = [int(world.model.body_weldid[world.model.site_bodyid[site]]) for site in world.tcp_sites]
    return on.index(rigid) if rigid in on else None
