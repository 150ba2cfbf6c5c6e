"""Robots from files: what cannot work is refused before any run, what can is understood, and does a pick and place.

The bad inputs are cases that broke other people's software; each kind is tried in several forms.
"""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from embodiedsmith import api, embodiments
from embodiedsmith.assets.imported.faults import ImportRefused
from embodiedsmith.embodiments import contact
from embodiedsmith.embodiments.holdtest import hold_test
from embodiedsmith.embodiments.imported import store
from embodiedsmith.motion.kinematics import kinematics
from embodiedsmith.runtime.errors import SmithError, UsageError

GANTRY = """
<mujoco model="gantry">
  <compiler angle="radian"/>
  <worldbody>
    <light pos="0 0 2"/>
    <geom type="plane" size="2 2 0.1"/>
    <body name="base">
      <geom type="box" size="0.05 0.05 0.4" pos="-0.4 0 0.4" mass="20"/>
      <body name="x" pos="0 0 0.75">
        <joint name="x" type="slide" axis="1 0 0" range="0.2 0.7"/>
        <geom type="box" size="0.05 0.3 0.03" mass="3"/>
        <body name="y">
          <joint name="y" type="slide" axis="0 1 0" range="-0.3 0.3"/>
          <geom type="box" size="0.06 0.06 0.05" mass="2"/>
          <body name="z">
            <joint name="z" type="slide" axis="0 0 -1" range="0 0.53"/>
            <geom type="box" size="0.02 0.02 0.3" pos="0 0 0.2" mass="1"/>
            <body name="hand" pos="0 0 -0.1" xyaxes="1 0 0 0 -1 0">
              <joint name="yaw" type="hinge" axis="0 0 1" range="-3.1 3.1" armature="0.02"/>
              <geom type="box" size="0.02 0.09 0.02" mass="0.5"/>
              <body name="left" pos="0 0 0.1">
                {inertial}
                <joint name="left" type="slide" axis="0 1 0" range="0 0.04"/>
                <geom type="box" size="0.01 0.005 0.04" pos="0 0.005 -0.02" mass="0.02"/>
              </body>
              <body name="right" pos="0 0 0.1">
                <joint name="right" type="slide" axis="0 -1 0" range="0 0.04"/>
                <geom type="box" size="0.01 0.005 0.04" pos="0 -0.005 -0.02" mass="0.02"/>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="fingers"><joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed></tendon>
  <equality><joint joint1="left" joint2="right"/></equality>
  <actuator>{actuators}</actuator>
  <keyframe><key name="home" qpos="0.45 0 0.1 0 0.04 0.04"/></keyframe>
</mujoco>
"""
ARM = "".join(f'<position name="{n}" joint="{n}" kp="3000" kv="150" forcerange="-300 300"/>' for n in ("x", "y", "z", "yaw"))
IDLE = "nothing drives the gripper's joints left, right"
GRIP = '<position name="grip" tendon="fingers" kp="200" ctrlrange="0 0.04"/>'


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBODIEDSMITH_HOME", str(tmp_path / "home"))


def gantry(tmp_path: Path, *, actuators: str = ARM + GRIP, inertial: str = "") -> Path:
    path = tmp_path / "gantry.xml"
    path.write_text(GANTRY.format(actuators=actuators, inertial=inertial))
    return path


def test_a_model_is_asked_what_it_is(tmp_path: Path) -> None:
    kept = api.import_robot(gantry(tmp_path), name="crane", licence="CC0-1.0")
    record = kept.record
    assert record.joints == ("model/x", "model/y", "model/z", "model/yaw")
    assert record.home == pytest.approx((0.45, 0.0, 0.1, 0.0))
    assert record.max_width == pytest.approx(0.08, abs=0.002)
    assert {record.fingers[0][0], record.fingers[1][0]} == {"model/left", "model/right"}
    assert record.licence == "CC0-1.0"
    robot = embodiments.get(embodiments.full_name("crane"))
    model = robot.build().compile()
    tcp = model.site("tcp")
    np.testing.assert_allclose(tcp.pos, [0.0, 0.0, 0.11], atol=0.002)  # 10 mm before the ends of the fingers
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, tcp.quat)
    np.testing.assert_allclose(turn.reshape(3, 3)[:, 2], [0, 0, 1], atol=1e-6)  # out of the palm
    assert abs(turn.reshape(3, 3)[1, 1]) == pytest.approx(1.0, abs=1e-6)  # along the closing of the fingers
    assert model.nkey == model.nlight == 0
    assert any("gripper on hand" in guess for guess in record.guesses)


def test_it_holds_what_it_picks_up(tmp_path: Path) -> None:
    kept = api.import_robot(gantry(tmp_path), name="crane")
    (result,) = hold_test(embodiments.get(kept.name), shapes=("box",), masses=(0.2,))
    assert result.held
    assert result.static_slip < 1e-3


def test_it_does_a_pick_and_place_by_its_short_name(tmp_path: Path) -> None:
    kept = api.import_robot(gantry(tmp_path), name="crane")
    result = api.forge("put the apple on the plate", n=1, embodiment="crane", out=tmp_path / "run", seed=2, lessons=None)
    assert result.complete, result.rejections
    scenarios = list((tmp_path / "run" / "scenarios").rglob("*.json"))
    assert any(kept.name in path.read_text() for path in scenarios)


def test_what_slides_counts_as_reach(tmp_path: Path) -> None:
    """Wherever its joints put the tool, joints are found that put it there: no pose is given up as too far."""
    arm = kinematics(api.import_robot(gantry(tmp_path), name="crane").name)
    rng = np.random.default_rng(0)
    for joints in rng.uniform(arm.lower, arm.upper, size=(50, 4)):
        joints[3] *= 0.5  # a turn of nearly half a circle may be tried the other way round
        found = arm.inverse(arm.forward(joints), arm.home)
        assert found.ok
        np.testing.assert_allclose(found.joints, joints, atol=0.02)


# Case 8: actuators


@pytest.mark.parametrize(
    ("actuators", "says"),
    [
        ("", ["arm joints x, y, z, yaw have no actuator", '<position joint="yaw"', IDLE]),
        (ARM, [IDLE]),
        (ARM.replace('name="z" joint="z"', 'name="q" joint="yaw"') + GRIP, ["arm joints z have no actuator"]),
    ],
    ids=["none", "no gripper", "one missing"],
)
def test_joints_that_nothing_drives_are_named(tmp_path: Path, actuators: str, says: list[str]) -> None:
    path = gantry(tmp_path, actuators=actuators)
    with pytest.raises(ImportRefused) as refusal:
        api.import_robot(path, name="crane")
    assert all(text in str(refusal.value) for text in says)
    assert store.load_all() == ()
    kept = api.import_robot(path, name="crane", repair=True)
    assert any("gave each a position servo" in note for note in kept.record.notes)


def test_what_is_no_arm_with_a_gripper_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lamp.xml"
    geom = '<geom type="sphere" size="0.05" mass="1"/>'
    path.write_text(f'<mujoco><worldbody><body name="lamp"><freejoint name="root"/>{geom}</body></worldbody></mujoco>')
    with pytest.raises(ImportRefused) as refusal:
        api.import_robot(path, name="lamp")
    assert "a two-finger gripper is missing" in str(refusal.value)
    assert "its base floats (free joint" in str(refusal.value)


# Case 1: inertia


@pytest.mark.parametrize("values", ["0 0 0", "-1e-4 1e-4 1e-4", "1e-6 1e-6 1"])
def test_impossible_inertias_are_named_and_computed(tmp_path: Path, values: str) -> None:
    path = gantry(tmp_path, inertial=f'<inertial pos="0 0 0" mass="0.02" diaginertia="{values}"/>')
    with pytest.raises(ImportRefused, match=r"body 'left': inertia ixx=" + re.escape(f"{float(values.split(maxsplit=1)[0]):g}")):
        api.import_robot(path, name="crane")
    kept = api.import_robot(path, name="crane", repair=True)
    model = embodiments.get(kept.name).build().compile()
    x, y, z = sorted(model.body("model/left").inertia)
    assert x > 0
    assert z <= x + y
    assert any("computed from its shape" in note for note in kept.record.notes)


# Case 6: meshes


def urdf(tmp_path: Path, mesh: str) -> Path:
    """The gantry as a URDF, its hand a mesh."""
    links = {
        "post": "0.1 0.1 0.8", "bridge": "0.1 0.6 0.06", "cart": "0.12 0.12 0.1", "mast": "0.04 0.04 0.6", "hand": "",
        "left": "0.02 0.01 0.08", "right": "0.02 0.01 0.08",
    }  # fmt: skip
    text = ['<robot name="gantry">']
    for name, size in links.items():
        shape = f'<box size="{size}"/>' if size else f'<mesh filename="{mesh}"/>'
        at = {"left": "0 0.005 -0.02", "right": "0 -0.005 -0.02", "mast": "0 0 0.2", "post": "-0.4 0 0.4"}.get(name, "0 0 0")
        geometry = f'<origin xyz="{at}"/><geometry>{shape}</geometry>'
        inertia = '<mass value="0.5"/><inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/>'
        text.append(f'<link name="{name}"><inertial>{inertia}</inertial><collision>{geometry}</collision></link>')
    joints = [
        ("x", "prismatic", "post", "bridge", "0 0 0.75", "0 0 0", "1 0 0", 0.2, 0.7),
        ("y", "prismatic", "bridge", "cart", "0 0 0", "0 0 0", "0 1 0", -0.3, 0.3),
        ("z", "prismatic", "cart", "mast", "0 0 0", "0 0 0", "0 0 -1", 0, 0.5),
        ("yaw", "revolute", "mast", "hand", "0 0 -0.1", "3.14159265 0 0", "0 0 1", -3.1, 3.1),
        ("left", "prismatic", "hand", "left", "0 0 0.1", "0 0 0", "0 1 0", 0, 0.04),
        ("right", "prismatic", "hand", "right", "0 0 0.1", "0 0 0", "0 -1 0", 0, 0.04),
    ]
    for name, kind, parent, child, xyz, rpy, axis, low, high in joints:
        mimic = '<mimic joint="left"/>' if name == "right" else ""
        text.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            f'<limit lower="{low}" upper="{high}" effort="200" velocity="0.7"/>{mimic}</joint>'
        )
    path = tmp_path / "my_robot" / "urdf" / "gantry.urdf"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join([*text, "</robot>"]))
    return path


def test_a_urdf_finds_its_meshes_in_a_sibling_folder(tmp_path: Path) -> None:
    path = urdf(tmp_path, "package://my_robot/meshes/hand.stl")
    with pytest.raises(ImportRefused) as refusal:
        api.import_robot(path, name="crane")
    assert str(tmp_path / "my_robot" / "meshes" / "hand.stl") in str(refusal.value)
    (tmp_path / "my_robot" / "meshes").mkdir()
    trimesh.creation.box((0.04, 0.18, 0.04)).export(tmp_path / "my_robot" / "meshes" / "hand.stl")
    record = api.import_robot(path, name="crane").record
    assert record.joints == ("model/x", "model/y", "model/z", "model/yaw")
    assert record.velocity_limits == pytest.approx((0.7,) * 4)
    assert record.max_width == pytest.approx(0.08, abs=0.002)
    assert len(record.gripper_actuators) == 1  # the other finger follows


# Case 10: keyframes, twice, with a free thing


def test_two_of_them_and_a_free_thing_save_and_load(tmp_path: Path) -> None:
    robot = embodiments.get(api.import_robot(gantry(tmp_path), name="crane").name)
    spec = mujoco.MjSpec()
    contact.OPTIONS.apply(spec)
    for side, prefix in ((-1, "one/"), (1, "two/")):
        spec.attach(robot.build(), prefix=prefix, frame=spec.worldbody.add_frame(pos=[0, side, 0]))
    ball = spec.worldbody.add_body(name="ball", pos=[0, 0, 1])
    ball.add_freejoint()
    ball.add_geom(size=[0.05, 0, 0])
    model = spec.compile()
    again = mujoco.MjModel.from_xml_string(spec.to_xml(), assets(robot))
    names = [model.joint(j).name for j in range(model.njnt)]
    assert len(set(names)) == len(names)
    assert (again.nq, again.nkey) == (model.nq, 0)
    ends = []
    for one in (model, again):
        data = mujoco.MjData(one)
        data.ctrl[:] = 0.3
        for _ in range(120):
            mujoco.mj_step(one, data)
        ends.append(data.qpos.copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)  # XML keeps six digits


def assets(robot: embodiments.Robot) -> dict[str, bytes]:
    (kept,) = [kept for kept in store.load_all() if kept.name == robot.name]
    return {name: (Path(kept.folder) / store.MESHES / name).read_bytes() for name in kept.record.meshes}


# What is kept


def test_a_changed_robot_is_another(tmp_path: Path) -> None:
    old = api.import_robot(gantry(tmp_path), name="crane")
    with pytest.raises(SmithError, match="has been imported before"):
        api.import_robot(gantry(tmp_path), name="crane")
    new = api.import_robot(gantry(tmp_path, actuators=ARM.replace("300", "200") + GRIP), name="crane", replace=True)
    assert new.name != old.name
    with pytest.raises(embodiments.UnknownRobot, match=f"{old.name}'; did you mean '{new.name}'"):
        embodiments.get(old.name)
    (Path(new.folder) / store.MODEL).write_text("<mujoco/>")
    store._parsed.cache_clear()
    with pytest.raises(SmithError, match="has changed"):
        embodiments.get(new.name).build()


@pytest.mark.parametrize("name", ["panda", "Crane", "any", "../crane", ""])
def test_names_that_cannot_be_taken(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="a robot cannot be called"):
        api.import_robot(gantry(tmp_path), name=name)
