"""Every category of the catalogue, in every size: physics, mass, affordances and words, checked by measurement."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest

from embodiedsmith import assets
from embodiedsmith.assets.asset import Asset, Grasp, Handle, JointInfo
from embodiedsmith.embodiments import contact
from embodiedsmith.spec import AssetSpec, Pose

STEP = contact.OPTIONS.timestep
SIZES = ("small", "medium", "large")
LOOSE = ("cloth", "grains", "liquid", "marks")
"""Kinds of matter without a shape of its own: what is made of them has tests of its own."""
KEEPING = [n for n in sorted(assets.categories()) if getattr(assets.build(AssetSpec(category=n)).matter, "kind", "") not in LOOSE]
EVERY = [(name, size) for name in KEEPING for size in SIZES]
FREE = [(name, size) for name, size in EVERY if assets.categories()[name].role != "furniture"]
CONTENTS = {"bottle": "fill", "can": "fill", "jar": "fill"}
"""Parameters that say how much [kg] a closed vessel holds; it is not drawn, so not in the volume of the picture."""
MOVED = [
    AssetSpec(category="drawer_unit", params={"drawers": 3}),
    *(
        AssetSpec(category="base_cabinet", params={"layout": layout})
        for layout in (
            ("drawer", "drawer", "drawer", "drawer"),
            ("drawer|drawer", "door_left|door_right"),
            ("door_right", "drawer"),
        )
        if "base_cabinet" in assets.categories()
    ),
]


def scene(asset: Asset, *, free: bool, height: float = 0.0) -> mujoco.MjSpec:
    """A plane with the asset on it, as the world would attach it."""
    spec = mujoco.MjSpec()
    contact.OPTIONS.apply(spec)
    spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1])
    frame = spec.worldbody.add_frame(pos=[0, 0, height])
    spec.attach(asset.mjspec, prefix="it/", frame=frame)
    if free:
        spec.body("it/root").add_freejoint()
    return spec


def matrix(pose: Pose) -> np.ndarray:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, np.asarray(pose.rotation))
    return flat.reshape(3, 3)


def run(model: mujoco.MjModel, data: mujoco.MjData, seconds: float) -> None:
    for _ in range(round(seconds / STEP)):
        mujoco.mj_step(model, data)
    assert data.time == pytest.approx(seconds, abs=1e-6) or data.time > seconds
    assert np.isfinite(data.qpos).all()


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_stands_still(name: str, size: str) -> None:
    asset = assets.build(AssetSpec(category=name, size=size))
    model = scene(asset, free=True, height=0.001).compile()
    data = mujoco.MjData(model)
    run(model, data, 2.0)
    assert np.linalg.norm(data.qpos[:2]) < 0.003
    assert abs(data.qpos[2]) < 0.003
    tilt = np.degrees(np.arccos(np.clip(matrix(Pose()).T[2] @ data.body("it/root").xmat.reshape(3, 3)[:, 2], -1, 1)))
    assert tilt < 2.0
    assert np.abs(data.qvel[:3]).max() < 0.005


MOST_CONTACTS = 8
"""That a rigid thing makes with a flat board: the corners of two boxes, or of four capsules in a row."""
RIGID = [(name, size) for name, size in FREE if assets.build(AssetSpec(category=name)).matter is None]
TURNED = [(n, s) for n, s in RIGID if any(c.shape == "disc" for c in assets.build(AssetSpec(category=n)).affordances.cavities)]


def on_board(asset: Asset, *, friction: float | None = None) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The asset at rest on a board, and its model."""
    world = mujoco.MjSpec()
    contact.OPTIONS.apply(world)
    world.worldbody.add_geom(name="board", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.8, 0.8, 0.015], pos=[0, 0, -0.015])
    world.attach(asset.mjspec, prefix="it/", frame=world.worldbody.add_frame(pos=[0, 0, 0.0005]))
    world.body("it/root").add_freejoint()
    model = world.compile()
    if friction is not None:
        model.geom_friction[:, 0] = friction
    data = mujoco.MjData(model)
    run(model, data, 1.0)
    return model, data


def foot_radius(model: mujoco.MjModel) -> float:
    """Of the circle that the drawn bottom of the turned thing on the board stands on [m]."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    turned = next(g for g in range(model.ngeom) if model.geom_group[g] == 2 and model.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH)
    mesh = model.geom_dataid[turned]
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] : model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh]]
    points = data.geom_xpos[turned] + vertices @ data.geom_xmat[turned].reshape(3, 3).T
    return float(np.linalg.norm(points[points[:, 2] < points[:, 2].min() + 1e-5, :2], axis=1).max())


@pytest.mark.parametrize(("name", "size"), RIGID)
def test_rests_on_few_contacts(name: str, size: str) -> None:
    """Every contact at rest is paid for in every step; those that are left keep the thing where it is."""
    model, data = on_board(assets.build(AssetSpec(category=name, size=size)))
    counts, before = [], data.qpos.copy()
    for _ in range(round(4.0 / STEP)):
        mujoco.mj_step(model, data)
        counts.append(data.ncon)
    assert 1 <= min(counts) <= max(counts) <= MOST_CONTACTS
    assert np.linalg.norm(data.qpos[:3] - before[:3]) < 5e-5
    assert np.abs(data.qpos[3:] - before[3:]).max() < 5e-4


@pytest.mark.parametrize(("name", "size"), TURNED)
def test_turned_things_stand_on_the_edge_of_their_foot(name: str, size: str) -> None:
    model, data = on_board(assets.build(AssetSpec(category=name, size=size)))
    foot = foot_radius(model)
    points = np.array([touch.pos[:2] for touch in data.contact]) - data.qpos[:2]
    assert np.linalg.norm(points, axis=1) == pytest.approx(foot, rel=0.02)
    angles = np.linspace(0, 2 * np.pi, 64)
    reach = (points @ np.stack([np.cos(angles), np.sin(angles)])).max(axis=0)
    assert reach.min() > 0.6 * foot, "there is a side on which nothing holds it"


@pytest.mark.parametrize("name", ["cup", "bowl", "bin"])
@pytest.mark.parametrize(("share", "falls"), [(0.92, False), (1.08, True)])
def test_turned_things_tip_over_the_edge_of_their_foot(name: str, share: float, falls: bool) -> None:
    """A push as high as its weight and the radius of its foot balance decides, from all sides alike."""
    asset = assets.build(AssetSpec(category=name))
    model, start = on_board(asset, friction=3.0)
    body, height = model.body("it/root").id, 0.9 * asset.size[2]
    push = share * asset.mass * 9.81 * foot_radius(model) / height
    for angle in np.arange(8) * np.pi / 4 + 0.2:
        data = mujoco.MjData(model)
        data.qpos[:] = start.qpos
        for step in range(480):
            mujoco.mj_kinematics(model, data)
            point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ [0, 0, height]
            data.qfrc_applied[:] = 0
            force = push * min(1.0, step / 240) * np.array([np.cos(angle), np.sin(angle), 0])
            mujoco.mj_comPos(model, data)
            mujoco.mj_applyFT(model, data, force, np.zeros(3), point, body, data.qfrc_applied)
            mujoco.mj_step(model, data)
        tilt = np.degrees(np.arccos(min(1.0, data.xmat[body, 8])))
        assert (tilt > 3.0) == falls


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_mass_is_volume_times_density(name: str, size: str) -> None:
    """The drawn volume times the material's density, from the compiled model, is the mass of the bodies."""
    asset = assets.build(AssetSpec(category=name, size=size))
    model = asset.mjspec.compile()
    mass = sum(geom_volume(model, geom) * geom_density(model, geom) for geom in range(model.ngeom) if model.geom_group[geom] == 2)
    category = assets.category(name)
    if asset.matter is not None and asset.matter.kind == "soft":
        mass = float(np.prod(asset.size)) * assets.MATERIALS[asset.spec.material or category.materials[0]].density
    if name in CONTENTS:
        mass += category.resolve(asset.spec).number(CONTENTS[name])
    assert model.body_mass.sum() == pytest.approx(mass, rel=0.02)
    assert asset.mass == pytest.approx(model.body_mass.sum(), rel=1e-9)


def geom_density(model: mujoco.MjModel, geom: int) -> float:
    return assets.MATERIALS[model.mat(model.geom_matid[geom]).name.rsplit("_", 1)[0]].density


def geom_volume(model: mujoco.MjModel, geom: int) -> float:
    size = model.geom_size[geom]
    match mujoco.mjtGeom(model.geom_type[geom]):
        case mujoco.mjtGeom.mjGEOM_BOX:
            return float(8 * np.prod(size))
        case mujoco.mjtGeom.mjGEOM_SPHERE:
            return float(4 / 3 * np.pi * size[0] ** 3)
        case mujoco.mjtGeom.mjGEOM_CYLINDER:
            return float(np.pi * size[0] ** 2 * 2 * size[1])
        case mujoco.mjtGeom.mjGEOM_CAPSULE:
            return float(np.pi * size[0] ** 2 * 2 * size[1] + 4 / 3 * np.pi * size[0] ** 3)
        case mujoco.mjtGeom.mjGEOM_MESH:
            mesh = model.geom_dataid[geom]
            first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            vertices = model.mesh_vert[first : first + count]
            faces = model.mesh_face[model.mesh_faceadr[mesh] : model.mesh_faceadr[mesh] + model.mesh_facenum[mesh]]
            # The divergence theorem: a sixth of the triple product of each face.
            return float(np.einsum("ij,ij->", vertices[faces[:, 0]], np.cross(vertices[faces[:, 1]], vertices[faces[:, 2]])) / 6)
    raise AssertionError(f"geom type {model.geom_type[geom]} is not used by the catalogue")


def cavities() -> list[tuple[AssetSpec, str]]:
    specs = [AssetSpec(category=name, size=size) for name, size in EVERY]
    return [(spec, cavity.name) for spec in [*specs, *MOVED] for cavity in assets.build(spec).affordances.cavities]


@pytest.mark.parametrize(
    ("spec", "cavity_name"), cavities(), ids=lambda value: value if isinstance(value, str) else f"{value.category}-{value.size}"
)
def test_catches_a_ball(spec: AssetSpec, cavity_name: str) -> None:
    """A ball let go at the opening ends inside; cavities that open at the front are closed everywhere else."""
    asset = assets.build(spec)
    cavity = asset.affordances.cavity(cavity_name)
    radius = 0.4 * min(cavity.size) if min(cavity.size) < 0.03 else 0.012
    world = scene(asset, free=False)
    ball = world.worldbody.add_body(name="ball")
    ball.add_freejoint(name="ball")
    ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], density=500, condim=6, friction=[0.6, 0.005, 0.002])
    model = world.compile()
    data = mujoco.MjData(model)
    if cavity.joint is not None:
        data.joint(f"it/{cavity.joint}").qpos = asset.joints[cavity.joint].open
        if asset.joints[cavity.joint].kind == "hinge":
            model.jnt_range[model.joint(f"it/{cavity.joint}").id, 0] = asset.joints[cavity.joint].open - 0.01
    mujoco.mj_kinematics(model, data)
    upward = cavity.opening[2] > 0.5
    start = np.array([0.15 * cavity.size[0], 0.1 * cavity.size[1], cavity.size[2] + 0.03 if upward else 0.5 * cavity.size[2]])
    body, turn = data.body(f"it/{cavity.body}"), matrix(cavity.pose)
    place = body.xpos + body.xmat.reshape(3, 3) @ (np.asarray(cavity.pose.position) + turn @ start)
    data.joint("ball").qpos[:3] = place
    run(model, data, 1.5)
    local = turn.T @ (body.xmat.reshape(3, 3).T @ (data.body("ball").xpos - body.xpos) - np.asarray(cavity.pose.position))
    assert np.abs(local[:2]).max() <= max(cavity.size[:2]) / 2
    if cavity.shape == "disc":
        assert np.linalg.norm(local[:2]) < cavity.size[0] / 2
    assert -0.003 < local[2] - radius < 0.5 * cavity.size[2] + 0.003
    assert np.linalg.norm(data.body("ball").cvel[3:]) < 0.05


def drive(handle: Handle, info: JointInfo, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force [N] and torque [N m] of a hand on a handle, in the body's frame: 12 N, less than half of what is allowed.

    A handle is pulled away from its panel. One whose hinge turns about that very direction cannot be pulled: a lever is swept
    along, square to its arm, and a knob, which has no arm, is twisted by its edge.
    """
    outward, nothing = np.asarray(handle.outward), np.zeros(3)
    if info.kind == "slide" or abs(outward @ axis) < 0.99:
        return 12.0 * outward, nothing
    if handle.knob:
        return nothing, 12.0 * handle.radius * axis
    along = np.cross(axis, handle.center)
    return 12.0 * along / np.linalg.norm(along), nothing


def parts() -> list[tuple[AssetSpec, str]]:
    specs = [AssetSpec(category=name, size=size) for name, size in EVERY]
    return [(spec, joint) for spec in [*specs, *MOVED] for joint in assets.build(spec).joints]


@pytest.mark.parametrize(
    ("spec", "joint"), parts(), ids=lambda value: value if isinstance(value, str) else f"{value.category}-{value.size}"
)
def test_opens_when_pulled_and_stays_shut(spec: AssetSpec, joint: str) -> None:
    asset = assets.build(spec)
    handle = asset.affordances.handle(joint)
    info = asset.joints[joint]
    model = scene(asset, free=False).compile()
    data = mujoco.MjData(model)
    run(model, data, 5.0)
    assert np.abs(data.qpos).max() < 0.002, "drifts open when nothing pulls"
    body = model.body(f"it/{handle.body}").id
    address = model.joint(f"it/{joint}").qposadr[0]
    reached = 0.0
    for _ in range(round(6.0 / STEP)):
        turn = data.xmat[body].reshape(3, 3)
        force, torque = (turn @ part for part in drive(handle, info, model.joint(f"it/{joint}").axis))
        point = data.xpos[body] + turn @ np.asarray(handle.center)
        data.qfrc_applied[:] = 0
        mujoco.mj_applyFT(model, data, force, torque, point, body, data.qfrc_applied)
        mujoco.mj_step(model, data)
        reached = max(reached, float(data.qpos[address]))
    assert reached > 0.99 * info.open
    others = [i for i in range(model.nq) if i != address]
    assert np.abs(data.qpos[others]).max(initial=0.0) < 0.005


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_affordances_are_consistent(name: str, size: str) -> None:
    asset = assets.build(AssetSpec(category=name, size=size))
    model = asset.mjspec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    low, high = np.asarray(asset.extents[0]) - 1e-6, np.asarray(asset.extents[1]) + 1e-6
    given = asset.affordances
    named = [model.joint(i).name for i in range(model.njnt)]  # those of what it consists of have no names
    assert [name for name in named if name] == list(asset.joints)
    for info in asset.joints.values():
        assert model.joint(info.name).range.tolist() == [info.closed, info.open]
        assert given.handle(info.name).joint == info.name
    for support in given.supports:
        body = data.body(support.body)
        assert np.allclose(body.xmat.reshape(3, 3) @ matrix(support.pose)[:, 2], [0, 0, 1])
        assert_within(body.xpos + np.asarray(support.pose.position), low, high)
    for cavity in given.cavities:
        assert cavity.joint is None or cavity.joint in asset.joints
        for corner in itertools.product((-0.5, 0.5), (-0.5, 0.5), (0.0, 1.0)):
            point = np.asarray(cavity.pose.position) + matrix(cavity.pose) @ (np.asarray(corner) * cavity.size)
            assert_within(data.body(cavity.body).xpos + point, low, high)
    for rim in given.rims:
        assert rim.radius > 0
    assert asset.fixed == (assets.category(name).role == "furniture")
    assert low[2] == pytest.approx(0.0, abs=0.001)
    if not asset.fixed and (asset.matter is None or asset.matter.kind == "soft"):
        assert given.grasps


def assert_within(point: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    assert (point >= low).all() and (point <= high).all(), f"{point} outside {low} .. {high}"


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_extents_are_those_of_the_geometry(name: str, size: str) -> None:
    asset = assets.build(AssetSpec(category=name, size=size))
    model = asset.mjspec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    corners = []
    for geom in range(model.ngeom):
        turn, place = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
        center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = model.geom_dataid[geom]
            vertices = model.mesh_vert[model.mesh_vertadr[mesh] : model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh]]
            points = place + vertices @ turn.T
        elif model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
            signs = np.array(list(itertools.product((-1, 1), repeat=3)))
            points = place + (center + signs * half) @ turn.T
        else:
            continue
        corners += [points.min(axis=0), points.max(axis=0)]
    if corners:
        slack = 0.004
        assert (np.min(corners, axis=0) > np.asarray(asset.extents[0]) - slack).all()
        assert (np.max(corners, axis=0) < np.asarray(asset.extents[1]) + slack).all()


FINGER = (0.010, 0.0075, 0.027)
"""Half extents of a finger [m], from 9 mm beyond the tool centre point back to the palm."""
PALM = (0.030, 0.100, 0.030)


@pytest.mark.parametrize(("name", "size"), FREE)
def test_every_grasp_is_honest(name: str, size: str) -> None:
    """The width is what lies between the fingers, and the open hand fits round it, above what the thing stands on."""
    asset = assets.build(AssetSpec(category=name, size=size))
    grasps = asset.affordances.grasps
    if not grasps and asset.matter is not None:
        pytest.skip("held where its points are")
    assert min(grasp.width for grasp in grasps) <= 0.07
    world = scene(asset, free=False)
    for number, finger in enumerate((-1, 1)):
        world.worldbody.add_body(name=f"finger_{number}", mocap=True).add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, size=FINGER, pos=[0, finger * FINGER[1], 0.009 - FINGER[2]], group=4
        )
    world.worldbody.add_body(name="palm", mocap=True).add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=PALM, pos=[0, 0, -0.037 - PALM[2]], group=4
    )
    model = world.compile()
    data = mujoco.MjData(model)
    faults = [fault for index, grasp in enumerate(grasps) for fault in grasp_faults(model, data, index, grasp)]
    assert not faults, "\n".join(faults[:12]) + f"\n{len(faults)} faults, {len(grasps)} grasps"


def grasp_faults(model: mujoco.MjModel, data: mujoco.MjData, index: int, grasp: Grasp) -> list[str]:
    turn, origin = matrix(grasp.pose), np.asarray(grasp.pose.position)
    what = f"grasp {index} {grasp.kind} at {origin.round(3)} approach {turn[:, 2].round(2)} closing {turn[:, 1].round(2)}"
    faults = []
    if abs(np.linalg.norm(grasp.pose.rotation) - 1) > 1e-6:
        faults.append(f"{what}: not a unit quaternion")
    room = min(0.004, (0.08 - grasp.width) / 2)
    reach = grasp.width / 2 + 0.012
    mujoco.mj_kinematics(model, data)
    ends = []
    for side in (-1, 1):
        geom = np.zeros(1, dtype=np.int32)
        groups = np.array([0, 0, 0, 1, 0, 0], dtype=np.uint8)
        start = origin + side * reach * turn[:, 1]
        away = mujoco.mj_ray(model, data, start, -side * turn[:, 1], groups, True, -1, geom)
        ends.append(reach - away if away >= 0 else np.nan)
        name = f"finger_{0 if side < 0 else 1}"
        place(model, data, name, origin + side * (grasp.width / 2 + room) * turn[:, 1], grasp.pose)
    place(model, data, "palm", origin, grasp.pose)
    extent = ends[0] + ends[1]
    if not abs(extent - grasp.width) < 0.003:
        faults.append(f"{what}: between the fingers {extent:.4f} m, said {grasp.width:.4f} m")
    if not abs(ends[0] - ends[1]) < 0.004:
        faults.append(f"{what}: off the middle by {(ends[1] - ends[0]) / 2:.4f} m")
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    for touch in data.contact:
        bodies = {model.body(model.geom_bodyid[geom]).name for geom in touch.geom}
        hand = bodies & {"finger_0", "finger_1", "palm"}
        if hand and not bodies <= {"finger_0", "finger_1", "palm"} and touch.dist < -0.001:
            if "world" in bodies and hand == {"palm"}:
                continue  # A level hand over a bare table is the planner's to refuse.
            faults.append(f"{what}: {sorted(bodies)} overlap by {-touch.dist:.4f} m")
    return faults


def place(model: mujoco.MjModel, data: mujoco.MjData, name: str, position: np.ndarray, pose: Pose) -> None:
    mocap = model.body(name).mocapid[0]
    data.mocap_pos[mocap] = position
    data.mocap_quat[mocap] = pose.rotation


def test_a_lying_book_is_the_same_book_on_its_back() -> None:
    standing = assets.build(AssetSpec(category="book"))
    lying = assets.build(AssetSpec(category="book", params={"lying": True}))
    assert sorted(lying.size) == pytest.approx(sorted(standing.size))
    assert lying.size[2] == pytest.approx(min(standing.size))
    assert lying.mass == pytest.approx(standing.mass)
    assert not lying.affordances.grasps
    assert min(lying.affordances.support().size) > 0.1


def test_grain_is_a_plane_pattern_on_flat_things_and_a_cube_map_on_round_ones() -> None:
    for name, kind in (("counter", mujoco.mjtTexture.mjTEXTURE_2D), ("orange", mujoco.mjtTexture.mjTEXTURE_CUBE)):
        model = assets.build(AssetSpec(category=name)).mjspec.compile()
        assert {int(value) for value in model.tex_type} == {int(kind)}
