"""The spec says what it says: values survive JSON, equal content has one id, and nonsense is refused with every fault named."""

import math

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from embodiedsmith.spec import (
    AddItem,
    All,
    Any,
    AssetSpec,
    Brief,
    CameraSpec,
    ChangeArgument,
    ChangeEmbodiment,
    ChangeSupport,
    Edit,
    EmbodimentSpec,
    Finding,
    Goal,
    Item,
    LayOut,
    LightSpec,
    MoveBase,
    MoveItem,
    Not,
    Pose,
    Predicate,
    Provenance,
    Randomization,
    RemoveItem,
    Rephrase,
    Resize,
    Scenario,
    SceneSpec,
    Sequence,
    SetJoint,
    SetTolerance,
    SplitGoal,
    SwapAsset,
    TaskSpec,
    TurnItem,
    Unblock,
    digest,
    json_schemas,
    predicates,
    split_reference,
)

SCHEMAS = json_schemas()
VALIDATORS = {name: jsonschema.Draft202012Validator(SCHEMAS[name]) for name in ("Goal", "Scenario")}

names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
lengths = st.floats(-10, 10, allow_nan=False)
points = st.tuples(lengths, lengths, lengths)
words = st.text(min_size=1, max_size=20)
poses = st.builds(Pose.planar, lengths, lengths, lengths, st.floats(-math.pi, math.pi))
assets = st.builds(
    AssetSpec,
    category=names,
    params=st.dictionaries(
        names, st.one_of(st.booleans(), st.integers(-5, 5), lengths, words, st.lists(words).map(tuple)), max_size=3
    ),
    color=st.none() | names,
    size=st.sampled_from(["small", "medium", "large"]),
)
items = st.builds(
    Item,
    id=names,
    asset=assets,
    pose=st.none() | poses,
    joints=st.dictionaries(names, st.floats(0, 1), max_size=2),
    fixed=st.booleans(),
)
scenes = st.builds(
    SceneSpec,
    setting=st.sampled_from(["tabletop", "counter", "kitchen", "room"]),
    items=st.lists(items, max_size=3, unique_by=lambda item: item.id).map(tuple),
    cameras=st.lists(st.builds(CameraSpec, name=names, position=points, target=points), max_size=1).map(tuple),
    lights=st.lists(st.builds(LightSpec, name=names, position=points), max_size=1).map(tuple),
)
leaves = st.builds(
    Predicate, name=names, args=st.lists(names, max_size=2).map(tuple), params=st.dictionaries(names, lengths, max_size=2)
)
goals = st.recursive(
    leaves,
    lambda inner: st.one_of(
        *(st.builds(kind, goals=st.lists(inner, min_size=1, max_size=3).map(tuple)) for kind in (All, Any, Sequence)),
        st.builds(Not, goal=inner),
    ),
    max_leaves=6,
)
tasks = st.builds(
    TaskSpec, goal=goals, instructions=st.dictionaries(st.sampled_from(["en", "zh"]), words), user_text=st.none() | words
)
scenarios = st.builds(
    Scenario,
    scene=scenes,
    task=tasks,
    embodiment=st.builds(EmbodimentSpec, name=names, base=st.none() | poses),
    randomization=st.builds(Randomization, position=st.floats(0, 0.5)),
    provenance=st.builds(Provenance, brief=st.none() | st.builds(Brief, text=words), index=st.integers(0, 99)),
)
findings = st.builds(
    Finding, code=st.just("geometry.overlap"), subjects=st.tuples(names), value=st.none() | lengths, message=words
)
edits = st.one_of(
    st.builds(MoveItem, item=names, pose=poses),
    st.builds(SwapAsset, item=names, asset=assets),
    st.builds(AddItem, item=items),
    st.builds(RemoveItem, item=names),
    st.builds(ChangeSupport, item=names, parent=st.none() | names),
    st.builds(SetJoint, item=names, joint=names, fraction=st.floats(0, 1)),
    st.builds(TurnItem, item=names, yaw=st.floats(-3, 3)),
    st.builds(Unblock, item=names, blocked=names, pose=st.none() | poses),
    st.builds(Resize, item=names, params=st.dictionaries(names, lengths, max_size=2)),
    st.builds(ChangeArgument, predicate=st.integers(0, 3), argument=st.integers(0, 2), value=names),
    st.builds(SplitGoal, first=st.tuples(st.integers(0, 3))),
    st.builds(SetTolerance, predicate=st.integers(0, 3), name=names, value=lengths),
    st.builds(Rephrase, language=st.sampled_from(("en", "zh")), text=words),
    st.builds(LayOut, poses=st.dictionaries(names, poses, max_size=2), base=poses, cameras=st.just(()), lights=st.just(())),
    st.builds(MoveBase, pose=poses),
    st.builds(ChangeEmbodiment, name=names),
)


@settings(max_examples=30, deadline=None)
@given(scenarios)
def test_scenario_survives_json_with_its_id(scenario: Scenario) -> None:
    again = Scenario.from_json(scenario.to_json())
    assert again == scenario
    assert again.id == scenario.id
    assert again.to_json() == scenario.to_json()
    assert again.content_id() == scenario.content_id()
    VALIDATORS["Scenario"].validate(scenario.model_dump(mode="json"))


@settings(max_examples=30, deadline=None)
@given(goals)
def test_goal_survives_json(goal: Goal) -> None:
    adapter: TypeAdapter[Goal] = TypeAdapter(Goal)
    assert adapter.validate_json(adapter.dump_json(goal)) == goal
    VALIDATORS["Goal"].validate(adapter.dump_python(goal, mode="json"))


@settings(max_examples=30, deadline=None)
@given(edits, findings)
def test_edits_and_findings_survive_json(edit: Edit, finding: Finding) -> None:
    adapter: TypeAdapter[Edit] = TypeAdapter(Edit)
    assert adapter.validate_json(adapter.dump_json(edit)) == edit
    assert Finding.from_json(finding.to_json()) == finding


@settings(max_examples=20, deadline=None)
@given(scenarios, st.integers(0, 1000))
def test_provenance_is_no_part_of_the_id_and_the_rest_is(scenario: Scenario, seed: int) -> None:
    told = scenario.model_copy(update={"provenance": Provenance(agent="llm", seed=seed + 1)})
    assert told.id == scenario.id
    longer = scenario.task.model_copy(update={"horizon": scenario.task.horizon + 1.0})
    assert scenario.model_copy(update={"task": longer}).id != scenario.id


def test_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schemas_are_schemas_and_refuse_unknown_keys(name: str) -> None:
    schema = SCHEMAS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    objects = [schema, *schema.get("$defs", {}).values()]
    assert all(o["additionalProperties"] is False for o in objects if "properties" in o)


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (AssetSpec(category="mug"), "colour"),
        (Pose(), "z"),
        (Item(id="mug", asset=AssetSpec(category="mug")), "weight"),
        (TaskSpec(goal=Predicate(name="on")), "goals"),
        (Randomization(), "friktion"),
        (Brief(text="hi"), "robot"),
    ],
)
def test_unknown_keys_are_refused_by_name(value: AssetSpec, key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        type(value).model_validate({**value.model_dump(), key: 1})


def test_values_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        AssetSpec(category="mug").color = "red"  # type: ignore[misc]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_refused(bad: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        Pose(position=(bad, 0, 0))


@settings(max_examples=20, deadline=None)
@given(st.floats(-3.1, 3.1))
def test_yaw_is_what_planar_was_given(yaw: float) -> None:
    assert Pose.planar(0, 0, 0, yaw).yaw == pytest.approx(yaw, abs=1e-9)


def test_pose_refuses_quaternions_that_are_not_unit() -> None:
    with pytest.raises(ValidationError, match=r"norm 2.*unit quaternion"):
        Pose(rotation=(2.0, 0.0, 0.0, 0.0))


def test_scene_names_all_its_faults_at_once() -> None:
    mug = AssetSpec(category="mug")
    with pytest.raises(ValidationError) as caught:
        SceneSpec(
            items=(
                Item(id="a", asset=mug),
                Item(id="a", asset=mug),
                Item(id="b", asset=mug, parent="nowhere"),
                Item(id="c", asset=mug, parent="d"),
                Item(id="d", asset=mug, parent="c"),
            ),
            cameras=(CameraSpec(name="eye", position=(1, 0, 0), target=(0, 0, 0)),) * 2,
        )
    text = str(caught.value)
    for fault in (
        "item ids must be unique; repeated: ['a']",
        "repeated: ['eye']",
        "unknown item 'nowhere'",
        "'c' stands on itself",
    ):
        assert fault in text


def test_joint_fractions_and_names_are_checked() -> None:
    mug = AssetSpec(category="mug")
    with pytest.raises(ValidationError, match=r"fractions in \[0, 1\].*1.5"):
        Item(id="a", asset=mug, joints={"door": 1.5})
    with pytest.raises(ValidationError, match="pattern"):
        Item(id="Red Mug", asset=mug)
    with pytest.raises(ValidationError, match="pattern"):
        Finding(code="overlap", message="no critic named")


def test_scene_finds_and_replaces_items() -> None:
    mug = Item(id="mug", asset=AssetSpec(category="mug"))
    scene = SceneSpec(items=(mug, Item(id="cup", asset=AssetSpec(category="cup"))))
    assert scene.item("mug") is mug
    changed = scene.with_item(mug.model_copy(update={"fixed": True}))
    assert changed.item("mug").fixed
    assert not scene.item("mug").fixed
    assert [item.id for item in changed.items] == ["mug", "cup"]
    with pytest.raises(KeyError, match=r"no item 'jug'.*mug.*cup"):
        scene.item("jug")


def test_predicates_come_left_to_right() -> None:
    a, b, c, d = (Predicate(name=n) for n in "abcd")
    goal = All(goals=(a, Any(goals=(Not(goal=b), c)), Sequence(goals=(d, a))))
    assert list(predicates(goal)) == [a, b, c, d, a]


def test_references_split_at_the_first_dot() -> None:
    assert split_reference("cabinet.drawer_top") == ("cabinet", "drawer_top")
    assert split_reference("mug") == ("mug", None)
