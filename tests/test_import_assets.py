"""Things from files: what is refused and why, what is mended, what is measured, and that a brief can name the result.

The bad inputs are cases that broke other people's software; each kind is tried in several forms.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

from embodiedsmith import api, assets
from embodiedsmith.assets.fragment import STIFFNESS
from embodiedsmith.assets.imported import antipodal, reading, store
from embodiedsmith.assets.imported.faults import ImportRefused
from embodiedsmith.assets.imported.surface import Surface, examine, filled, rewound
from embodiedsmith.embodiments import contact
from embodiedsmith.forge.agents import RuleAgent
from embodiedsmith.forge.language import CannotBe
from embodiedsmith.forge.layout import layout
from embodiedsmith.motion import demonstrate, grasping
from embodiedsmith.motion.controller import FINGER_PLAY, SNUG_PLAY, Controller, opening
from embodiedsmith.runtime.errors import SmithError, UsageError
from embodiedsmith.spec import AssetSpec, Brief
from embodiedsmith.tasks import Session
from embodiedsmith.world import World

DENSITY = 700.0


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder of its own, and a short search for grasps: a second instead of several an import."""
    monkeypatch.setenv("EMBODIEDSMITH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(antipodal, "SAMPLES", 150)
    monkeypatch.setattr(antipodal, "ENOUGH", 8)


def box(side: float = 0.05) -> trimesh.Trimesh:
    return trimesh.creation.box((side, side, side))


def cup(radius: float = 0.033, height: float = 0.08, wall: float = 0.004, floor: float = 0.005) -> trimesh.Trimesh:
    """A straight cup, open above, standing on z = 0."""
    line = [(0, 0), (radius, 0), (radius, height), (radius - wall, height), (radius - wall, floor), (0, floor)]
    return trimesh.creation.revolve(np.array(line), sections=48)


def written(mesh: trimesh.Trimesh, path: Path) -> Path:
    mesh.export(path)
    return path


def turned_over(mesh: trimesh.Trimesh, faces: list[int]) -> trimesh.Trimesh:
    changed = np.asarray(mesh.faces).copy()
    changed[faces] = changed[faces][:, ::-1]
    return trimesh.Trimesh(mesh.vertices, changed, process=False)


def spec(kept: store.Imported) -> AssetSpec:
    return AssetSpec(category=kept.category)


# A thing from a file to a brief


def test_a_box_becomes_a_thing_that_a_brief_can_name(tmp_path: Path) -> None:
    path = written(box(), tmp_path / "die.obj")
    kept = api.import_asset(path, name="gizmo", density=DENSITY, words_zh=["小玩意"], licence="CC0-1.0")
    asset = assets.build(spec(kept))
    assert asset.mass == pytest.approx(DENSITY * 0.05**3, rel=1e-6)
    model = asset.mjspec.compile()
    inertia = asset.mass * 0.05**2 / 6
    np.testing.assert_allclose(model.body("root").inertia, [inertia] * 3, rtol=1e-6)
    np.testing.assert_allclose(asset.extents, [[-0.025, -0.025, 0.0], [0.025, 0.025, 0.05]], atol=1e-6)
    assert kept.record.pieces == 1
    assert kept.record.licence == "CC0-1.0"
    assert len(kept.record.grasps) >= 8
    assert {grasp.kind for grasp in kept.record.grasps} >= {"top", "side"}
    assert asset.affordances.support().size[0] == pytest.approx(0.05, abs=0.003)
    for text in ("put the gizmo on the plate", "把小玩意放到盘子上"):
        drafted = RuleAgent().propose(Brief(text=text, seed=1), np.random.default_rng(1)).scenario
        assert drafted.scene.item("gizmo").asset.category == kept.category


def test_it_is_made_into_verified_episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(antipodal, "SAMPLES", 700)
    monkeypatch.setattr(antipodal, "ENOUGH", 32)
    path = written(box(0.045), tmp_path / "die.stl")
    api.import_asset(path, name="gizmo", density=DENSITY)
    small = {"cameras": ("front",), "size": 64}
    result = api.make("put the gizmo on the plate", n=1, out=tmp_path / "run", seed=3, lessons=None, **small)
    assert result.complete
    assert result.episodes == 1


def test_a_ring_is_taken_with_a_finger_in_its_hole(tmp_path: Path) -> None:
    """Fingers opened as far as usual touch the far side of the hole; opened less they do not."""
    ring = trimesh.creation.annulus(r_min=0.0205, r_max=0.0605, height=0.036)
    kept = api.import_asset(written(ring, tmp_path / "ring.obj"), name="gizmo", density=400.0)
    assert kept.record.grasps
    draft = RuleAgent().propose(Brief(text="put the gizmo on the plate", seed=0), np.random.default_rng(0)).scenario
    session = Session(World(layout(draft, np.random.default_rng(0))), seed=0)
    session.reset(np.random.default_rng(0))
    control = Controller(session, np.random.default_rng(0))
    control.look()
    found = next(grasping.plans(control, "gizmo", grasping.Tally(), ready=lambda plan: None))
    assert found.play == SNUG_PLAY
    for play, free in ((FINGER_PLAY, False), (SNUG_PLAY, True)):
        control.checker.set_gripper(opening(control.hand, found.grasp.width, play))
        assert (control.checker.hit(found.joints) is None) == free
    assert demonstrate(session, np.random.default_rng(0)).outcome == "success"


def test_what_was_imported_changes_no_other_draw(tmp_path: Path) -> None:
    """A brief that does not name the thing gives the same scene for the same seed."""
    texts = ("put the mug on the plate", "put the apple in the basket", "put a fruit on a plate")
    briefs = [Brief(text=text, seed=2) for text in texts]
    before = [RuleAgent().propose(brief, np.random.default_rng(4)).scenario.id for brief in briefs]
    api.import_asset(written(box(0.04), tmp_path / "die.obj"), name="gizmo")
    assert [RuleAgent().propose(brief, np.random.default_rng(4)).scenario.id for brief in briefs] == before


def test_the_same_file_gives_the_same_thing(tmp_path: Path) -> None:
    path = written(cup(), tmp_path / "beaker.obj")
    first = api.import_asset(path, name="gizmo")
    assert api.import_asset(path, name="gizmo", replace=True).category == first.category


def test_a_scenario_of_a_changed_import_is_refused(tmp_path: Path) -> None:
    path = written(box(), tmp_path / "die.obj")
    old = api.import_asset(path, name="gizmo", mass=0.1)
    with pytest.raises(SmithError, match="'gizmo' has been imported before") as refusal:
        api.import_asset(path, name="gizmo", mass=0.2)
    assert "--replace" in str(refusal.value)
    new = api.import_asset(path, name="gizmo", mass=0.2, replace=True)
    assert new.category != old.category
    with pytest.raises(assets.UnknownCategory, match=f"no asset category '{old.category}' .did you mean {new.category}"):
        assets.build(spec(old))


def test_words_that_mean_something_are_refused_all_at_once(tmp_path: Path) -> None:
    path = written(box(), tmp_path / "die.obj")
    with pytest.raises(UsageError) as refusal:
        api.import_asset(path, name="plate", words=["mug", "on"], words_zh=["红"], material="gold", color="plaid")
    text = str(refusal.value)
    for fault in ("'plate' is taken", "'mug' already means mug", "'on' already means", "'红' already means red", "gold", "plaid"):
        assert fault in text


def test_it_comes_in_one_size(tmp_path: Path) -> None:
    kept = api.import_asset(written(box(), tmp_path / "die.obj"), name="gizmo")
    with pytest.raises(assets.InvalidAsset, match=r"size 'small' is not one of \['medium'\]"):
        assets.build(AssetSpec(category=kept.category, size="small"))
    with pytest.raises(CannotBe, match="there is no small gizmo; it comes in one size"):
        RuleAgent().propose(Brief(text="put the small gizmo on the plate", seed=1), np.random.default_rng(1))


# Case 2: winding


@pytest.mark.parametrize(
    ("faces", "says"),
    [
        (list(range(12)), "is inside out"),
        ([2, 7], "2 of 12 faces"),
        ([0], "1 of 12 faces"),
        ([1, 3, 5, 8, 9, 10, 11], "5 of 12 faces"),
    ],
)
def test_winding_is_found_mended_and_told(tmp_path: Path, faces: list[int], says: str) -> None:
    path = written(turned_over(box(), faces), tmp_path / "wrong.obj")
    with pytest.raises(ImportRefused, match=says) as refusal:
        api.import_asset(path, name="gizmo")
    assert "--repair" in str(refusal.value)
    kept = api.import_asset(path, name="gizmo", density=DENSITY, repair=True)
    assert kept.record.mass == pytest.approx(DENSITY * 0.05**3, rel=1e-6)
    assert any("turned" in repair for repair in kept.record.repairs)


def test_a_void_stays_a_void() -> None:
    """The inner shell of a hollow ball is wound inwards, and rightly so; of one that is inside out, both shells turn."""
    outer, inner = trimesh.creation.icosphere(radius=0.04), trimesh.creation.icosphere(radius=0.03)
    faces = np.concatenate([outer.faces, inner.faces[:, ::-1] + len(outer.vertices)])
    vertices = np.concatenate([outer.vertices, inner.vertices])
    ball = Surface.of("ball", vertices, faces)
    assert examine(ball).sound
    wrong = Surface.of("ball", vertices, faces[:, ::-1])
    assert examine(wrong).inside_out
    assert rewound(wrong).mesh.volume == pytest.approx(outer.volume - inner.volume)


@pytest.mark.parametrize("missing", [[0], [0, 1], [0, 6], [1, 6, 10]], ids=["one", "one of two", "touching", "three"])
def test_holes_are_found_and_filled(tmp_path: Path, missing: list[int]) -> None:
    mesh = box()
    opened = trimesh.Trimesh(mesh.vertices, np.delete(mesh.faces, missing, axis=0), process=False)
    assert examine(filled(Surface.of("box", opened.vertices, opened.faces))).sound
    path = written(opened, tmp_path / "open.obj")
    with pytest.raises(ImportRefused, match="is not closed"):
        api.import_asset(path, name="gizmo")
    kept = api.import_asset(path, name="gizmo", density=DENSITY, repair=True)
    assert 0.8 * DENSITY * 0.05**3 < kept.record.mass <= 1.0001 * DENSITY * 0.05**3
    assert any("closed the holes" in repair for repair in kept.record.repairs)


# Case 3: units


@pytest.mark.parametrize(
    ("factor", "remedy"), [(1000.0, "--scale 0.001"), (100.0, "--scale 0.01"), (1 / 39.3701 / 0.0254 * 1000, "--scale 0.001")]
)
def test_units_are_questioned(tmp_path: Path, factor: float, remedy: str) -> None:
    path = written(box(0.1 * factor), tmp_path / "large.stl")
    with pytest.raises(ImportRefused, match="implausible") as refusal:
        api.import_asset(path, name="gizmo")
    assert remedy in str(refusal.value)
    kept = api.import_asset(path, name="gizmo", repair=True)
    assert np.ptp(assets.build(spec(kept)).extents, axis=0) == pytest.approx([0.1] * 3, rel=1e-3)
    assert kept.record.scale == pytest.approx(1 / factor, rel=1e-3)
    assert any("scaled it" in repair for repair in kept.record.repairs)


def test_a_given_scale_is_taken(tmp_path: Path) -> None:
    kept = api.import_asset(written(box(50.0), tmp_path / "mm.stl"), name="gizmo", scale=0.001)
    assert kept.record.repairs == ()
    assert assets.build(spec(kept)).size == pytest.approx([0.05] * 3)


def test_a_small_thing_too_heavy_to_be_true_is_questioned(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="implausible"):
        api.import_asset(written(box(1.5), tmp_path / "block.obj"), name="gizmo", material="steel")


# Case 5: hollows


def ends_inside(kept: store.Imported, x: float, y: float) -> bool:
    """Whether a ball, as stiff as all things are, dropped into the cavity that the asset claims, off its middle, ends in it."""
    asset = assets.build(spec(kept))
    cavity = asset.affordances.cavity()
    scene = mujoco.MjSpec()
    contact.OPTIONS.apply(scene)
    scene.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1])
    scene.attach(asset.mjspec, prefix="it/", frame=scene.worldbody.add_frame())
    scene.body("it/root").add_freejoint()
    floor = np.asarray(cavity.pose.position)
    ball = scene.worldbody.add_body(name="ball", pos=floor + np.array([x, y, cavity.size[2] + 0.03]))
    ball.add_freejoint()
    ball.add_geom(size=[0.008, 0, 0], mass=0.005, condim=6, friction=[0.5, 0.005, 0.002], solref=STIFFNESS)
    model = scene.compile()
    data = mujoco.MjData(model)
    for _ in range(720):
        mujoco.mj_step(model, data)
    place = data.body("ball").xpos - data.body("it/root").xpos
    half = cavity.size[0] / 2
    return bool(np.hypot(*(place[:2] - floor[:2])) < half and floor[2] < place[2] < floor[2] + cavity.size[2])


@pytest.mark.parametrize(
    ("radius", "height", "wall"), [(0.033, 0.08, 0.004), (0.06, 0.05, 0.005), (0.028, 0.10, 0.003)], ids=["cup", "bowl", "glass"]
)
def test_a_vessel_has_its_true_mass_and_holds_a_ball(tmp_path: Path, radius: float, height: float, wall: float) -> None:
    mesh = cup(radius, height, wall)
    kept = api.import_asset(written(mesh, tmp_path / "beaker.obj"), name="gizmo", density=DENSITY)
    true = DENSITY * np.pi * (radius**2 * height - (radius - wall) ** 2 * (height - 0.005))
    assert assets.build(spec(kept)).mjspec.compile().body_mass.sum() == pytest.approx(true, rel=0.02)
    cavity = assets.build(spec(kept)).affordances.cavity()
    assert cavity.size == pytest.approx((2 * (radius - wall), 2 * (radius - wall), height - 0.005), abs=0.005)
    (rim,) = assets.build(spec(kept)).affordances.rims
    assert rim.radius == pytest.approx(radius - wall, abs=0.0035)
    assert all(ends_inside(kept, x, y) for x, y in ((0.0, 0.0), (0.004, 0.0), (0.0, -0.01), (0.008, 0.008)))


def test_what_is_closed_or_upside_down_is_no_vessel(tmp_path: Path) -> None:
    solid = api.import_asset(written(trimesh.creation.cylinder(0.03, 0.07), tmp_path / "puck.obj"), name="widget")
    assert solid.record.hollow is None
    assert solid.record.top is not None
    over = cup()
    over.apply_transform(trimesh.transformations.rotation_matrix(np.pi, [1, 0, 0]))
    kept = api.import_asset(written(over, tmp_path / "over.obj"), name="gizmo")
    assert kept.record.hollow is None


def test_what_tips_over_is_kept_as_it_lies(tmp_path: Path) -> None:
    rod = trimesh.creation.box((0.02, 0.03, 0.2))
    rod.apply_transform(trimesh.transformations.rotation_matrix(0.6, [0, 1, 0]))
    kept = api.import_asset(written(rod, tmp_path / "rod.obj"), name="gizmo", density=DENSITY)
    assert any("tips over" in note for note in kept.record.notes)
    assert sorted(assets.build(spec(kept)).size)[:2] == pytest.approx([0.02, 0.03], abs=0.002)


def test_gltf_has_y_up(tmp_path: Path) -> None:
    kept = api.import_asset(written(trimesh.creation.box((0.04, 0.09, 0.05)), tmp_path / "case.glb"), name="gizmo")
    assert assets.build(spec(kept)).size == pytest.approx([0.04, 0.05, 0.09], abs=1e-4)


def test_what_no_hand_can_hold_is_said_to_be_so(tmp_path: Path) -> None:
    kept = api.import_asset(written(box(0.12), tmp_path / "crate.obj"), name="gizmo", density=100)
    assert kept.record.grasps == ()
    assert any("no grasp" in note for note in kept.record.notes)


# Cases 1 and 6: models

URDF = """<robot name="it"><link name="shell">{inertial}
<visual><geometry>{shape}</geometry></visual><collision><geometry>{shape}</geometry></collision></link></robot>"""
BOX = '<box size="0.05 0.05 0.05"/>'


def inertial(ixx: float, iyy: float, izz: float, mass: float = 0.2) -> str:
    return f'<inertial><mass value="{mass}"/><inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>'


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ((0, 0, 0), "link 'shell': inertia ixx=0, iyy=0, izz=0 is zero"),
        ((-1e-4, 1e-4, 1e-4), "link 'shell': inertia ixx=-0.0001, iyy=0.0001, izz=0.0001 is not positive"),
        ((1e-6, 1e-6, 1), "link 'shell': inertia ixx=1e-06, iyy=1e-06, izz=1 is that of no solid"),
        ((1e-4, 1e-4, 1e-4, 0.0), "link 'shell': mass 0 kg is not positive"),
    ],
)
def test_impossible_inertias_are_named_and_computed(tmp_path: Path, values: tuple[float, ...], says: str) -> None:
    path = tmp_path / "it.urdf"
    path.write_text(URDF.format(inertial=inertial(*values), shape=BOX))
    with pytest.raises(ImportRefused) as refusal:
        api.import_asset(path, name="gizmo")
    assert says in str(refusal.value)
    kept = api.import_asset(path, name="gizmo", repair=True, density=DENSITY)
    mass = values[3] if len(values) > 3 else 0.2
    assert kept.record.mass == pytest.approx(mass or DENSITY * 0.05**3, rel=1e-6)
    np.testing.assert_allclose(kept.record.inertia[:3], [kept.record.mass * 0.05**2 / 6] * 3, rtol=1e-5)


@pytest.mark.parametrize("layout", ["my_robot/urdf", "share/my_robot/urdf", "my_robot"])
def test_package_paths_are_found_beside_the_model(tmp_path: Path, layout: str) -> None:
    folder = tmp_path / layout
    package = next(p for p in (folder, *folder.parents) if p.name == "my_robot")
    (package / "meshes").mkdir(parents=True)
    folder.mkdir(parents=True, exist_ok=True)
    written(box(), package / "meshes" / "it.stl")
    shape = '<mesh filename="package://my_robot/meshes/it.stl"/>'
    path = folder / "it.urdf"
    path.write_text(URDF.format(inertial=inertial(1e-4, 1e-4, 1e-4), shape=shape))
    kept = api.import_asset(path, name="gizmo")
    assert kept.record.mass == pytest.approx(0.2)
    (package / "meshes" / "it.stl").unlink()
    with pytest.raises(ImportRefused) as refusal:
        api.import_asset(path, name="gizmo", replace=True)
    assert str(package / "meshes" / "it.stl") in str(refusal.value)
    assert "is not there (tried" in str(refusal.value)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../../../../../etc/passwd", "file:///etc/passwd", "package://../../../etc/passwd"]
)
def test_a_model_may_not_read_what_is_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    path = tmp_path / "a" / "b" / "c" / "it.urdf"
    path.write_text(URDF.format(inertial="", shape=f'<mesh filename="{name}"/>'))
    with pytest.raises(ImportRefused, match="is not there"):
        api.import_asset(path, name="gizmo")


def test_an_mjcf_with_includes_is_read(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    written(box(0.04), tmp_path / "parts" / "it.stl")
    (tmp_path / "assets.xml").write_text('<mujocoinclude><asset><mesh file="it.stl"/></asset></mujocoinclude>')
    path = tmp_path / "it.xml"
    path.write_text(
        '<mujoco><compiler meshdir="parts"/><include file="assets.xml"/><worldbody><body><freejoint/>'
        '<geom type="mesh" mesh="it" mass="0.15" rgba="1 0 0 1"/></body></worldbody></mujoco>'
    )
    kept = api.import_asset(path, name="gizmo")
    assert kept.record.mass == pytest.approx(0.15)
    assert kept.record.color == "red"


def test_moving_parts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "it.xml"
    body = '<body><joint name="lid" axis="0 1 0"/><geom type="box" size=".02 .02 .02" mass=".1"/></body>'
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(ImportRefused, match=r"moving parts \(joints lid\)"):
        api.import_asset(path, name="gizmo", repair=True)


# Files that are not what they say


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("it.txt", b"hello", "is no format that can be read"),
        ("it.stl", b"\x00" * 90, "there is no triangle|cannot be read"),
        ("it.obj", b"v 0 0 0\nf 1 2 3\n", "there is no triangle|cannot be read"),
        ("it.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "there is no triangle|cannot be read"),
        ("it.glb", b"glTF nonsense", "cannot be read"),
        ("it.urdf", b"<robot", "is no valid XML"),
        ("it.xml", b"<html></html>", "its root is <html>"),
        ("it.xml", b'<!DOCTYPE x [<!ENTITY a "b">]><mujoco/>', "declares XML entities"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ImportRefused, match=says):
        api.import_asset(path, name="gizmo", repair=True)


def test_huge_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(trimesh.creation.icosphere(subdivisions=4), tmp_path / "ball.stl")
    monkeypatch.setattr(reading, "MOST_FACES", 1000)
    with pytest.raises(ImportRefused, match="5120 triangles are too many"):
        api.import_asset(path, name="gizmo")
    monkeypatch.setattr(reading, "MOST_BYTES", 1000)
    with pytest.raises(ImportRefused, match="MB are too many"):
        api.import_asset(path, name="gizmo")


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(SmithError, match="No such file"):
        api.import_asset(tmp_path / "none.obj", name="gizmo")


# What is kept


def rename(kept: store.Imported) -> None:
    path = Path(kept.folder) / store.RECORD
    path.write_text(path.read_text().replace('"gizmo"', '"../gizmo"'))


def change_shapes(kept: store.Imported) -> None:
    path = Path(kept.folder) / store.SHAPES
    arrays = dict(np.load(path))
    arrays["piece_000"] = 2 * arrays["piece_000"]
    np.savez(path, **arrays)


def pickle_inside(kept: store.Imported) -> None:
    np.savez(Path(kept.folder) / store.SHAPES, piece_000=np.array([{}], dtype=object))


def cut(kept: store.Imported) -> None:
    path = Path(kept.folder) / store.RECORD
    path.write_text(json.dumps({"name": "gizmo"}))


@pytest.mark.parametrize("damage", [rename, change_shapes, pickle_inside, cut])
def test_what_is_kept_is_not_trusted(tmp_path: Path, damage: Callable[[store.Imported], None]) -> None:
    kept = api.import_asset(written(box(), tmp_path / "die.obj"), name="gizmo")
    damage(kept)
    with pytest.raises(SmithError) as refusal:
        assets.build(spec(kept))
    assert "import it again" in str(refusal.value)
