"""From a Scenario to a MuJoCo model: fragments attached under prefixes, nothing wrapped.

Names in the model: `<item id>/<name in the fragment>` for items, `robot/<name>` for the robot, plain names for scene
cameras and lights. A free item's joint is `<item id>/free`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np

from embodiedsmith import assets, embodiments
from embodiedsmith.assets import cloth, softbody
from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.category import InvalidAsset, UnknownCategory
from embodiedsmith.embodiments import contact
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import AssetSpec, Item, Scenario, SceneSpec
from embodiedsmith.world import marks
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.errors import CompileError
from embodiedsmith.world.liquid import vessel
from embodiedsmith.world.liquid.painting import add_mesh
from embodiedsmith.world.sheets import cloths, prepare
from embodiedsmith.world.walls import add_walls

PHYSICS_HZ = 240
ROBOT = "robot/"
RESERVED = frozenset({"robot", "world", "floor", "pedestal", "walls", *(f"finger_{k}" for k in range(8))})
"""Names that contacts and the model give to other things than items."""
WALL_THICKNESS, WALL_MARGIN = 0.03, 0.15
"""Of the piece of wall behind what hangs, and how far it goes beyond it [m]."""
GRAIN_HZ = 480
"""Physics steps a second where there are grains, unless said otherwise: what has fallen 0.2 m moves by 8 mm in a step of 1/240 s,
and one grain in five went through the 8 mm floor of a box. See also the stiffness of grains."""
GRAIN_IMPRATIO = 5.0
"""Where there are grains. With 20, as elsewhere, the solver does not converge on a heap within its 100 iterations, and grains hop
by 2 cm when their bowl is lifted; with 5 none does, and a grip creeps a little more."""
FLOOR_SIZE = 6.0  # [m] half extent of the drawn floor


@dataclass(frozen=True)
class Compiled:
    """A model with what it was built from."""

    scenario: Scenario
    spec: mujoco.MjSpec
    model: mujoco.MjModel
    robot: Robot
    assets: dict[str, Asset]
    """Item id to asset."""
    nominal: dict[str, tf.Float]
    """Item id to the world pose of its root as laid out, shape (4, 4)."""


def compile_scenario(scenario: Scenario, *, physics_hz: int | None = None) -> Compiled:
    """Build the MuJoCo model of a scenario; its physics steps are as many a second as are said, or as what is in it needs.

    Raises:
        UnknownRobot: there is no such robot.
        CompileError: unknown categories, supports or joints, names that are taken, things without a place; every fault listed.
    """
    robot = embodiments.get(scenario.embodiment.name)
    built = build_assets(scenario.scene)
    nominal = _checked(scenario, robot, built)
    spec = _empty_world()
    _add_lights_and_cameras(spec, scenario.scene)
    add_walls(spec, scenario.scene)
    for item in scenario.scene.items:
        _attach_item(spec, item, built[item.id], nominal[item.id])
    _attach_robot(spec, robot, scenario)
    prepare(spec, cloths(built), robot, ROBOT)
    marks.prepare(spec, built)
    grains = any(asset.matter is not None and asset.matter.kind == "grains" for asset in built.values())
    spec.option.timestep = 1.0 / (physics_hz or (GRAIN_HZ if grains else PHYSICS_HZ))
    if grains:
        spec.option.solver = mujoco.mjtSolver.mjSOL_CG  # Newton is four times slower on a heap
        spec.option.impratio = min(spec.option.impratio, GRAIN_IMPRATIO)
    try:
        model = spec.compile()
    except ValueError as error:
        raise CompileError(f"MuJoCo refuses the model: {error}", where=scenario.id) from error
    softbody.damp(model)
    cloth.damp(model)
    if spilling := vessel.faults(model, scenario.scene, built):
        raise CompileError("a liquid has no place to be", where=scenario.id, faults=spilling)
    return Compiled(scenario, spec, model, robot, built, nominal)


def _checked(scenario: Scenario, robot: Robot, built: dict[str, Asset]) -> dict[str, tf.Float]:
    """Root poses of the items; raises CompileError with everything that is wrong besides the assets themselves."""
    scene = scenario.scene
    faults = [f"item '{i.id}': the name is taken, as are {sorted(RESERVED)}" for i in scene.items if i.id in RESERVED]
    for item in scene.items:
        unknown = sorted(set(item.joints) - set(built[item.id].joints))
        if unknown:
            faults.append(f"item '{item.id}' has no joints {unknown}; it has {sorted(built[item.id].joints)}")
    own = {camera.name for camera in robot.cameras}
    faults += [f"camera '{c.name}': {robot.name} has a camera of that name" for c in scene.cameras if c.name in own]
    aimed = [("camera", c.name, c.position, c.target) for c in scene.cameras]
    aimed += [("light", light.name, light.position, light.target) for light in scene.lights]
    faults += [f"{kind} '{name}' aims at its own position" for kind, name, at, to in aimed if np.allclose(at, to, atol=1e-6)]
    if scenario.embodiment.base is None:
        faults.append(f"the robot {robot.name} has no base pose: lay the scenario out first")
    try:
        nominal = root_poses(scene, built, palm_pose(scenario))
    except CompileError as error:
        faults += error.faults
    if faults:
        raise CompileError("the scenario cannot be compiled", where=scenario.id, faults=faults)
    return nominal


def build_assets(scene: SceneSpec) -> dict[str, Asset]:
    """Build every item's asset; raises CompileError with all faults at once."""
    built: dict[str, Asset] = {}
    faults: list[str] = []
    for item in scene.items:
        try:
            built[item.id] = assets.build(item.asset)
        except (SmithError, UnknownCategory, InvalidAsset) as error:
            faults.append(f"item '{item.id}': {error}")
    if faults:
        raise CompileError("some assets cannot be built", faults=faults)
    return built


def palm_pose(scenario: Scenario) -> tf.Float | None:
    """World pose (4, 4) of the middle of the palm that things lie in at the start, z out of it; None: the robot has none, or no
    place yet."""
    base = scenario.embodiment.base
    T_base_palm = cradled(scenario.embodiment.name)
    return None if base is None or T_base_palm is None else tf.matrix(base) @ T_base_palm


@lru_cache(maxsize=16)
def cradled(robot: str) -> tf.Float | None:
    """Pose (4, 4) in the robot's base frame of the middle of its palm with its arm held for things to lie there."""
    description = embodiments.get(robot)
    cradle = description.cradle
    if cradle is None:
        return None
    model = description.build().compile()
    data = mujoco.MjData(model)
    for name, position in zip(description.arm.joints, cradle.joints, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = position
    mujoco.mj_kinematics(model, data)
    tool = data.site(description.arm.tcp_site)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = tool.xmat.reshape(3, 3), tool.xpos
    return T @ tf.translate(cradle.place)


def root_poses(scene: SceneSpec, built: dict[str, Asset], palm: tf.Float | None = None) -> dict[str, tf.Float]:
    """World pose (4, 4) of every item's root as laid out, parents first; `palm`: see `palm_pose`, for what is held.

    Raises:
        CompileError: items without a pose or on supports that do not exist, all at once.
    """
    poses: dict[str, tf.Float] = {}
    faults: list[str] = []
    waiting = list(scene.items)
    while waiting:
        ready = [i for i in waiting if i.parent is None or i.parent in poses]
        if not ready:  # only behind an item that had a fault
            break
        for item in ready:
            waiting.remove(item)
            if item.pose is None:
                faults.append(f"item '{item.id}' has no pose: lay the scene out first")
                continue
            if item.relation == "held":
                if palm is None:
                    faults.append(f"item '{item.id}' is held: the robot has no hand that things lie in")
                else:
                    poses[item.id] = palm @ tf.matrix(item.pose)
                continue
            try:
                frame = support_frame(scene, item, built)
            except (KeyError, SmithError) as error:
                faults.append(f"item '{item.id}': {error}")
                continue
            T_world_parent = poses[item.parent] if item.parent is not None else np.eye(4)
            poses[item.id] = T_world_parent @ frame @ tf.matrix(item.pose)
    if faults:
        raise CompileError("the scene is not laid out", faults=faults)
    return poses


def support_frame(scene: SceneSpec, item: Item, built: dict[str, Asset]) -> tf.Float:
    """Pose (4, 4) of the frame `item.pose` is given in, in the parent's root frame, the parent's joints as the scene says."""
    if item.parent is None:
        return np.eye(4)
    parent = scene.item(item.parent)
    affordances = built[parent.id].affordances
    place = affordances.cavity(item.support) if item.relation == "inside" else affordances.support(item.support)
    fractions = tuple(sorted(parent.joints.items()))
    return body_frame(parent.asset.to_json(), fractions, place.body) @ tf.matrix(place.pose)


@lru_cache(maxsize=512)
def body_frame(asset_json: str, fractions: tuple[tuple[str, float], ...], body: str) -> tf.Float:
    """Pose (4, 4) of an asset's body in its root frame with joints at the given opening fractions."""
    asset = assets.build(AssetSpec.from_json(asset_json))
    spec = mujoco.MjSpec()
    spec.copy_during_attach = True
    spec.attach(asset.mjspec, prefix="a/", frame=spec.worldbody.add_frame())
    model = spec.compile()
    data = mujoco.MjData(model)
    for name, fraction in fractions:
        data.qpos[model.joint(f"a/{name}").qposadr[0]] = joint_position(asset, name, fraction)
    mujoco.mj_kinematics(model, data)
    return tf.compose(data.body(f"a/{body}").xpos, data.body(f"a/{body}").xquat)


def joint_position(asset: Asset, joint: str, fraction: float) -> float:
    """Joint position [m or rad] at an opening fraction; raises CompileError naming the joints there are."""
    if joint not in asset.joints:
        raise CompileError(f"no joint '{joint}'", where=asset.spec.category, choices=asset.joints)
    info = asset.joints[joint]
    return info.closed + fraction * (info.open - info.closed)


def _empty_world() -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.copy_during_attach = True
    contact.OPTIONS.apply(spec)
    visual = spec.visual
    visual.global_.offwidth, visual.global_.offheight = 1280, 960
    visual.quality.shadowsize = 2048
    visual.quality.offsamples = 4
    visual.headlight.ambient = [0.35, 0.35, 0.35]
    visual.headlight.diffuse = [0.35, 0.35, 0.35]
    visual.headlight.specular = [0.05, 0.05, 0.05]
    visual.map.znear, visual.map.zfar = 0.01, 40.0
    spec.stat.extent = 1.0  # fixes znear and zfar in metres
    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.93, 0.93, 0.9], rgb2=[0.72, 0.76, 0.8], width=128, height=768,
    )  # fmt: skip
    spec.add_texture(
        name="floor", type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.63, 0.6, 0.56], rgb2=[0.58, 0.55, 0.51], width=256, height=256,
    )  # fmt: skip
    material = spec.add_material(name="floor", texrepeat=[1.0, 1.0], texuniform=True, reflectance=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[FLOOR_SIZE, FLOOR_SIZE, 0.1], material="floor", condim=4,
    )  # fmt: skip
    return spec


def _add_lights_and_cameras(spec: mujoco.MjSpec, scene: SceneSpec) -> None:
    for light in scene.lights:
        direction = np.subtract(light.target, light.position)
        spec.worldbody.add_light(
            name=light.name, pos=light.position, dir=direction / np.linalg.norm(direction), castshadow=True,
            diffuse=[light.intensity] * 3, specular=[0.3 * light.intensity] * 3, cutoff=80.0,
        )  # fmt: skip
    for camera in scene.cameras:
        quat = tf.quaternion(tf.look_at(camera.position, camera.target))
        spec.worldbody.add_camera(name=camera.name, pos=camera.position, quat=quat, fovy=camera.fovy)


def _attach_item(spec: mujoco.MjSpec, item: Item, asset: Asset, T_world_root: tf.Float) -> None:
    frame = spec.worldbody.add_frame(pos=T_world_root[:3, 3], quat=tf.quaternion(T_world_root[:3, :3]))
    spec.attach(asset.mjspec, prefix=f"{item.id}/", frame=frame)
    if asset.matter is not None and asset.matter.kind == "liquid":
        spec.body(f"{item.id}/root").mocap = True  # shows the middle of its particles
        add_mesh(spec, item.id, round(asset.mass / vessel.DENSITY / asset.matter.spacing**3))
    elif not item.fixed and not (asset.matter is not None and asset.matter.kind in ("cloth", "grains")):
        spec.body(f"{item.id}/root").add_freejoint(name=f"{item.id}/free")
    if item.relation == "attached":
        _add_wall(spec, item.id, asset, T_world_root)


def _add_wall(spec: mujoco.MjSpec, item_id: str, asset: Asset, T_world_root: tf.Float) -> None:
    """The piece of wall that something hangs on, from the floor to a little above it, just behind its back."""
    low, high = np.asarray(asset.extents[0]), np.asarray(asset.extents[1])
    top = float(T_world_root[2, 3] + high[2]) + WALL_MARGIN
    middle = T_world_root[:3, :3] @ [low[0] - WALL_THICKNESS / 2 - 0.001, (low[1] + high[1]) / 2, 0.0] + T_world_root[:3, 3]
    size = [WALL_THICKNESS / 2, (high[1] - low[1]) / 2 + WALL_MARGIN, top / 2]
    spec.worldbody.add_geom(
        name=f"wall_{item_id}", type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=[*middle[:2], top / 2],
        quat=tf.quaternion(T_world_root[:3, :3]), rgba=[0.85, 0.83, 0.78, 1.0],
    )  # fmt: skip


def _attach_robot(spec: mujoco.MjSpec, robot: Robot, scenario: Scenario) -> None:
    assert scenario.embodiment.base is not None
    T_world_base = tf.matrix(scenario.embodiment.base)
    if robot.base.stands:
        if robot.base.kind == "fixed":
            _add_pedestal(spec, robot, T_world_base)
        frame = spec.worldbody.add_frame(pos=T_world_base[:3, 3], quat=tf.quaternion(T_world_base[:3, :3]))
    else:  # a vehicle's slides are along world axes: its pose is in its joints
        frame = spec.worldbody.add_frame()
    spec.attach(robot.build(), prefix=ROBOT, frame=frame)
    if robot.base.kind == "planar":  # it rolls on the floor: its slides and hinge leave no way to press on it
        spec.add_exclude(bodyname1="world", bodyname2=f"{ROBOT}base")


def _add_pedestal(spec: mujoco.MjSpec, robot: Robot, T_world_base: tf.Float) -> None:
    height = float(T_world_base[2, 3])
    if height < 0.02:
        return
    x, y = robot.base.footprint
    body = spec.worldbody.add_body(
        name="pedestal", pos=[*T_world_base[:2, 3], height / 2], quat=tf.quaternion(T_world_base[:3, :3])
    )
    body.add_geom(name="pedestal", type=mujoco.mjtGeom.mjGEOM_BOX, size=[x / 2, y / 2, height / 2], rgba=[0.32, 0.33, 0.36, 1.0])
    spec.add_exclude(bodyname1="pedestal", bodyname2=f"{ROBOT}base")
