"""The catalogue as a whole: words, errors, determinism, attaching, holding, pictures, and the documented way to add to it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image

from embodiedsmith import assets
from embodiedsmith.assets import registry
from embodiedsmith.assets.asset import Asset, Grasp, Handle
from embodiedsmith.assets.category import Category
from embodiedsmith.assets.grasps import grasp_pose
from embodiedsmith.embodiments import contact
from embodiedsmith.spec import AssetSpec

NAMES = sorted(assets.categories())
HELD = [name for name in NAMES if assets.category(name).role == "object"]
ASKED = """
table counter shelf base_cabinet wall_cabinet microwave fridge drawer_unit mug cup bowl plate bottle can pan tray basket
bin box book jar knife spoon apple banana lemon block sponge
"""


def model_bytes(model: mujoco.MjModel) -> bytes:
    buffer = np.zeros(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def test_everything_asked_for_is_there() -> None:
    assert set(ASKED.split()) <= set(NAMES)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_are_unique(language: str) -> None:
    owners: dict[str, str] = {}
    words = [(word, name) for name, category in assets.categories().items() for word in category.names[language]]
    words += [(word, f"tag {tag}") for tag, names in assets.TAGS.items() for word in names[language]]
    for word, owner in words:
        assert word == word.strip().lower()
        assert owners.setdefault(word, owner) == owner, f"'{word}' means both {owners[word]} and {owner}"
    colors = [word for color in assets.COLORS.values() for word in color.names[language]]
    assert len(colors) == len(set(colors))


@pytest.mark.parametrize("name", NAMES)
def test_category_is_documented_and_consistent(name: str) -> None:
    category = assets.category(name)
    assert category.name == name
    assert category.names["en"][0] == name.replace("_", " ")
    assert category.tags <= set(assets.TAGS)
    assert set(category.colors) <= set(assets.COLORS)
    assert set(category.materials) <= set(assets.MATERIALS)
    for param in category.params.values():
        assert param.meaning
        assert param.source or not param.unit, "a measure needs a source"
        assert param.fault(param.default) is None
        for factor in category.sizes.values() if param.scales else ():
            assert param.fault(param.default * factor) is None
    default = assets.build(AssetSpec(category=name)).mjspec.compile()
    explicit = AssetSpec(category=name, color=category.colors[0], material=category.materials[0])
    assert model_bytes(default) == model_bytes(assets.build(explicit).mjspec.compile())


def test_every_material_says_where_its_numbers_are_from() -> None:
    assert [material.name for material in assets.MATERIALS.values() if not material.source] == []
    solids = [material for material in assets.MATERIALS.values() if material.name != "liquid"]
    assert all(20 <= m.density <= 9000 for m in assets.MATERIALS.values())
    assert all(0.2 <= m.friction <= 1.2 for m in solids) and assets.MATERIALS["liquid"].friction == 0.0  # nothing slides on it


@pytest.mark.parametrize("name", NAMES)
def test_every_material_and_color_builds(name: str) -> None:
    category = assets.category(name)
    for material in category.materials:
        assert assets.build(AssetSpec(category=name, material=material)).mass > 0
    for color in category.colors:
        model = assets.build(AssetSpec(category=name, color=color)).mjspec.compile()
        assert np.isclose(model.mat_rgba, assets.COLORS[color].rgba, atol=1e-6).all(axis=1).any()


@pytest.mark.parametrize("name", NAMES)
def test_limits_build(name: str) -> None:
    """Each parameter alone at either of its limits gives a model that compiles, or a typed refusal."""
    category = assets.category(name)
    built = 0
    for key, param in category.params.items():
        for limit in (param.low, param.high):
            if limit is None:
                continue
            value = int(limit) if isinstance(param.default, int) else float(limit)
            try:
                asset = assets.build(AssetSpec(category=name, params={key: value}))
            except assets.InvalidAsset as refusal:
                assert refusal.faults
                continue
            model = asset.mjspec.compile()
            liquid = asset.matter is not None and asset.matter.kind == "liquid"  # its mass is that of a world's particles
            assert (asset.mass if liquid else model.body_mass.sum()) > 0
            built += 1
    assert built >= len([param for param in category.params.values() if param.low is not None])


@pytest.mark.parametrize("name", NAMES)
def test_same_spec_same_bytes(name: str) -> None:
    spec = AssetSpec(category=name, size="small")
    first = model_bytes(assets.build(spec).mjspec.compile())
    registry._build.cache_clear()
    assert model_bytes(assets.build(spec).mjspec.compile()) == first


def test_one_asset_twice_in_two_scenes() -> None:
    spec = AssetSpec(category="basket")
    for _ in range(2):
        scene = mujoco.MjSpec()
        for number in range(2):
            scene.attach(
                assets.build(spec).mjspec, prefix=f"basket_{number}/", frame=scene.worldbody.add_frame(pos=[number, 0, 0])
            )
        scene.attach(assets.build(AssetSpec(category="mug")).mjspec, prefix="mug/", frame=scene.worldbody.add_frame())
        model = scene.compile()
        names = [model.body(index).name for index in range(model.nbody)]
        assert names == ["world", "basket_0/root", "basket_1/root", "mug/root"]
        assert model.body("basket_0/root").mass == model.body("basket_1/root").mass


def test_building_does_not_share_state() -> None:
    spec = AssetSpec(category="block")
    assets.build(spec).mjspec.body("root").add_freejoint()
    assert assets.build(spec).mjspec.compile().nq == 0


def test_unknown_category_suggests() -> None:
    with pytest.raises(assets.UnknownCategory, match=r"no asset category 'muug' \(did you mean mug") as caught:
        assets.build(AssetSpec(category="muug"))
    assert caught.value.choices[0] == "apple"


def test_all_faults_at_once() -> None:
    spec = AssetSpec(category="mug", params={"diametr": 0.1, "height": 3.0, "wall": "thick"}, color="plaid", material="gold")
    with pytest.raises(assets.InvalidAsset) as caught:
        assets.build(spec)
    text = str(caught.value)
    assert len(caught.value.faults) == 5
    assert "'diametr' (did you mean diameter?)" in text
    assert "3.0 is outside [0.07, 0.12] m" in text
    assert "'wall' must be a number" in text
    assert "color 'plaid' is not one of ['red'" in text
    assert "material 'gold' is not one of ['ceramic'" in text


@pytest.mark.parametrize(
    ("category", "params", "message"),
    [
        ("drawer_unit", {"drawers": 2.5}, "whole number"),
        ("block", {"length": True}, "must be"),
        ("base_cabinet", {"layout": ("shelf",)}, "a row is one of"),
        ("base_cabinet", {"layout": "drawer"}, "list of words"),
        ("base_cabinet", {"layout": ("drawer",) * 12}, "use fewer"),
    ],
)
def test_bad_parameters_are_refused(category: str, params: dict, message: str) -> None:
    with pytest.raises(assets.InvalidAsset, match=message):
        assets.build(AssetSpec(category=category, params=params))


def test_parts_are_named_by_position() -> None:
    def joints(*layout: str) -> list[str]:
        return list(assets.build(AssetSpec(category="base_cabinet", params={"layout": layout})).joints)

    assert joints("drawer", "drawer", "door_left") == ["drawer_top", "drawer_bottom", "door"]
    assert joints("drawer", "drawer", "drawer") == ["drawer_top", "drawer_middle", "drawer_bottom"]
    assert joints("door_left|door_right") == ["door_left", "door_right"]
    assert joints("drawer|drawer") == ["drawer_0", "drawer_1"]
    three = assets.build(AssetSpec(category="drawer_unit", params={"drawers": 3}))
    assert [cavity.name for cavity in three.affordances.cavities] == ["drawer_top", "drawer_middle", "drawer_bottom"]
    model = three.mjspec.compile()
    assert model.body("drawer_top").pos[2] > model.body("drawer_middle").pos[2] > model.body("drawer_bottom").pos[2]


def test_duplicates_are_refused() -> None:
    mug = assets.category("mug")
    with pytest.raises(ValueError, match="the name 'mug' is taken"):
        registry.register(assets.categories(), mug)
    again = Category(
        name="stein", title="Stein", names={"en": ("mug",), "zh": ()}, role="object", build=mug.build, materials=("ceramic",)
    )
    with pytest.raises(ValueError, match=r"en words \['mug'\] already mean 'mug'"):
        registry.register(assets.categories(), again)


def test_a_mug_fits_every_drawer_of_the_drawer_unit() -> None:
    mug = assets.build(AssetSpec(category="mug"))
    unit = assets.build(AssetSpec(category="drawer_unit"))
    for cavity in unit.affordances.cavities:
        assert (np.asarray(cavity.size) > mug.size + 0.02).all()
        assert unit.joints[cavity.name].open >= 0.2


def test_masses_are_within_the_payload() -> None:
    for name in HELD:
        assert 0.01 < assets.build(AssetSpec(category=name)).mass <= 0.5


def test_visual_meshes_are_small() -> None:
    for name in NAMES:
        model = assets.build(AssetSpec(category=name)).mjspec.compile()
        assert model.mesh_facenum.max(initial=0) <= 1500


# Handles


def handles() -> list[tuple[str, Handle]]:
    return [(name, handle) for name in NAMES for handle in assets.build(AssetSpec(category=name)).affordances.handles]


@pytest.mark.parametrize(("name", "handle"), handles(), ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_hand_fits_round_every_handle(name: str, handle: Handle) -> None:
    """Open fingers, 20 mm wide and 15 mm thick, with a palm behind them, go round the bar without touching anything."""
    assert handle.length >= 0.095 or handle.knob
    asset = assets.build(AssetSpec(category=name))
    scene = mujoco.MjSpec()
    scene.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1])
    scene.attach(asset.mjspec, prefix="it/", frame=scene.worldbody.add_frame())
    closing = np.cross(handle.axis, handle.outward)
    pose = grasp_pose(handle.center, -np.asarray(handle.outward), closing)
    place = body_position(name, handle.body) + handle.center
    hand = scene.worldbody.add_body(name="hand", pos=place, quat=pose.rotation)
    hand.add_freejoint()
    for side in (-1, 1):
        hand.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.010, 0.0075, 0.027], pos=[0, side * 0.0475, -0.018])
    hand.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.030, 0.100, 0.030], pos=[0, 0, -0.067])
    model = scene.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for touch in data.contact:
        bodies = {model.body(model.geom_bodyid[geom]).name for geom in touch.geom}
        assert "hand" not in bodies, f"{sorted(bodies)} overlap by {-touch.dist:.4f} m"


def body_position(name: str, body: str) -> np.ndarray:
    model = assets.build(AssetSpec(category=name)).mjspec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return data.body(body).xpos.copy()


# Holding


def best_grasps() -> list[tuple[str, int]]:
    """The best grasp of everything meant to be held, and the best of every other kind but those of heavy handles."""
    chosen = []
    for name in HELD:
        grasps = assets.build(AssetSpec(category=name)).affordances.grasps
        kinds = {grasp.kind: index for index, grasp in reversed(list(enumerate(grasps)))}
        if name == "pan":
            kinds = {"rim": kinds["rim"]}
        chosen += [(name, index) for index in sorted(kinds.values())]
    return chosen


@pytest.mark.parametrize(("name", "index"), best_grasps())
def test_two_fingers_lift_it(name: str, index: int) -> None:
    """Two pads of 20 x 18 mm closing with 20 N each lift it by 12 cm: it slips under 12 mm and turns under 10 degrees."""
    asset = assets.build(AssetSpec(category=name))
    grasp = asset.affordances.grasps[index]
    model = lifting_scene(asset, grasp).compile()
    data = mujoco.MjData(model)
    for finger in range(2):
        data.joint(f"finger_{finger}").qpos = min(0.04, grasp.width / 2 + 0.004)
    before = None
    for step in range(4 * 240):
        time = step / 240
        if time >= 0.55 and before is None:
            before = in_hand(data)
        data.ctrl[:] = (-20.0, -20.0, 0.12 * np.clip((time - 0.6) / 1.2, 0, 1))
        mujoco.mj_step(model, data)
    assert before is not None
    after = in_hand(data)
    assert np.linalg.norm(after[0] - before[0]) < 0.012
    turned = np.degrees(np.arccos(np.clip((np.trace(before[1].T @ after[1]) - 1) / 2, -1, 1)))
    assert turned < 10.0
    assert data.body("it/root").xpos[2] > 0.10


def lifting_scene(asset: Asset, grasp: Grasp) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    contact.OPTIONS.apply(spec)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1])
    spec.attach(asset.mjspec, prefix="it/", frame=spec.worldbody.add_frame())
    spec.body("it/root").add_freejoint()
    lift = spec.worldbody.add_body(name="lift", mass=1.0, inertia=[0.01] * 3, explicitinertial=True, gravcomp=1)
    lift.add_joint(name="lift", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])
    hand = lift.add_body(name="hand", pos=grasp.pose.position, quat=grasp.pose.rotation)
    for number, side in enumerate((-1, 1)):
        finger = hand.add_body(name=f"finger_{number}", gravcomp=1)
        finger.add_joint(
            name=f"finger_{number}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, side, 0], range=[0, 0.04],
            limited=mujoco.mjtLimited.mjLIMITED_TRUE, damping=[10, 0, 0], armature=0.1,
        )  # fmt: skip
        finger.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.010, 0.0075, 0.009], pos=[0, side * 0.0075, 0], mass=0.05)
        contact.make_pad(finger.geoms[0])
        motor = spec.add_actuator(name=f"finger_{number}", target=f"finger_{number}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
    spec.add_actuator(name="lift", target="lift", trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_position(kp=20000, kv=400)
    return spec


def in_hand(data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray]:
    """Position and orientation of the thing in the hand's frame."""
    turn = data.body("hand").xmat.reshape(3, 3)
    return turn.T @ (data.body("it/root").xpos - data.body("hand").xpos), turn.T @ data.body("it/root").xmat.reshape(3, 3)


# Pictures and documentation


def test_gallery_shows_every_category(tmp_path: Path) -> None:
    specs = [AssetSpec(category=name) for name in ("mug", "drawer_unit")]
    path = assets.gallery(tmp_path / "sheet.png", specs=specs, tile=120, columns=2, opening=0.5)
    sheet = np.asarray(Image.open(path))
    assert sheet.shape == (120 + 34, 240, 3)
    pictures = sheet[:120, :120], sheet[:120, 120:]
    assert all(picture.std() > 10 for picture in pictures)
    red = pictures[0][..., 0].astype(int) - pictures[0][..., 1]
    assert (red > 60).mean() > 0.03


def test_documented_example_works() -> None:
    page = (Path(__file__).parents[1] / "docs" / "adding-an-object.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    module: dict = {"__name__": "candle"}
    exec(compile(code, "candle.py", "exec"), module)
    catalogue = assets.categories()
    registry.register(catalogue, module["CATEGORY"])
    category = catalogue["candle"]
    spec = AssetSpec(category="candle", color="red", size="large")
    asset = category.build(spec, category.resolve(spec))
    expected = np.pi * 0.03**2 * 0.10 * 950
    assert asset.mjspec.compile().body_mass.sum() == pytest.approx(expected, rel=0.01)
    assert len(asset.affordances.grasps) > 20
    assert list(itertools.chain(*category.names.values())) == ["candle", "蜡烛"]
