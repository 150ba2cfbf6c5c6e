"""What an edit does to a scenario. Pure: the same scenario and edits give the same scenario, so that a log of them replays.

What an edit unsettles loses its pose and is laid out again; everything else stays where it was. Cameras and lights are aimed
anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from embodiedsmith import assets, embodiments
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import (
    AddItem,
    All,
    AssetSpec,
    ChangeArgument,
    ChangeEmbodiment,
    ChangeSupport,
    Edit,
    Goal,
    Item,
    LayOut,
    MoveBase,
    MoveItem,
    Not,
    Pose,
    Predicate,
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
    TurnItem,
    Unblock,
    predicates,
    split_reference,
)
from embodiedsmith.tasks import instruction

DRIVING = 2.0  # times the horizon for a robot that drives: it needs a way to each thing


class EditError(SmithError):
    """An edit that cannot be applied to this scenario."""

    def __init__(self, edit: Edit, why: str) -> None:
        super().__init__(f"cannot {edit.kind.replace('_', ' ')}: {why}", where="edit")


def apply(scenario: Scenario, edit: Edit) -> Scenario:
    """The scenario after an edit.

    Raises:
        EditError: it speaks of what is not there, or takes away what the goal needs.
    """
    match edit:
        case ChangeArgument() | SplitGoal() | SetTolerance() | Rephrase():
            return _on_task(scenario, edit)
        case LayOut():
            return _laid_out(scenario, edit)
        case MoveBase():
            body = scenario.embodiment.model_copy(update={"base": edit.pose})
            return _unaimed(scenario.model_copy(update={"embodiment": body}))
        case ChangeEmbodiment():
            return _with_robot(scenario, edit)
        case _:
            scene = _on_scene(scenario, edit)
            return _said_anew(_unaimed(scenario.model_copy(update={"scene": scene})))


def replay(draft: Scenario, edits: Iterable[Edit]) -> Scenario:
    """The scenario that a log of edits makes of a draft; raises `EditError`."""
    for edit in edits:
        draft = apply(draft, edit)
    return draft


def difference(before: Scenario, after: Scenario) -> LayOut:
    """What a layout decided, as the edit that repeats it.

    `after` must be `before` with places (and perhaps sizes) given to things, robot, cameras and lights.
    """
    old = {item.id: item for item in before.scene.items}
    base = after.embodiment.base
    assert base is not None  # a layout places the robot
    return LayOut(
        poses={i.id: i.pose for i in after.scene.items if i.pose is not None and old[i.id].pose != i.pose},
        assets={i.id: i.asset for i in after.scene.items if old[i.id].asset != i.asset},
        base=base,
        cameras=after.scene.cameras,
        lights=after.scene.lights,
        rooms=after.scene.rooms,
        walls=after.scene.walls,
    )


def distance(before: Scenario, after: Scenario) -> int:
    """Edit distance: how many single facts of scene, task and robot differ (an item's asset, carrier, pose and each joint; each
    predicate's arguments and numbers; the shape of the goal; the robot, its place). A thing added or taken away counts one.
    """
    old, new = ({i.id: i for i in s.scene.items} for s in (before, after))
    count = len(set(old) ^ set(new))
    for name in set(old) & set(new):
        a, b = old[name], new[name]
        count += (a.asset != b.asset) + ((a.parent, a.relation, a.support) != (b.parent, b.relation, b.support))
        count += a.pose != b.pose
        count += sum(a.joints.get(j, 0.0) != b.joints.get(j, 0.0) for j in set(a.joints) | set(b.joints))
    said, says = list(predicates(before.task.goal)), list(predicates(after.task.goal))
    if len(said) == len(says):
        count += sum(p.args != q.args for p, q in zip(said, says, strict=True))
        count += sum(p.params != q.params for p, q in zip(said, says, strict=True))
    count += _shape(before.task.goal) != _shape(after.task.goal)
    count += before.embodiment.name != after.embodiment.name
    return count + (before.embodiment.base != after.embodiment.base)


def _shape(goal: Goal) -> object:
    match goal:
        case Predicate():
            return goal.name
        case Not():
            return ("not", _shape(goal.goal))
        case _:
            return (goal.kind, *(_shape(g) for g in goal.goals))


# ---------------------------------------------------------------------- scene


def _on_scene(scenario: Scenario, edit: Edit) -> SceneSpec:
    scene = scenario.scene
    match edit:
        case AddItem():
            return _added(scene, edit)
        case RemoveItem():
            return _removed(scenario, edit)
        case MoveItem() | Unblock():
            return scene.with_item(_item(scene, edit).model_copy(update={"pose": edit.pose}))
        case TurnItem():
            item = _item(scene, edit)
            if item.pose is None:
                raise EditError(edit, f"'{item.id}' has no place yet")
            x, y, z = item.pose.position
            return scene.with_item(item.model_copy(update={"pose": Pose.planar(x, y, z, edit.yaw)}))
        case SwapAsset():
            return _rebuilt(scene, edit, edit.asset)
        case Resize():
            spec = _item(scene, edit).asset
            return _rebuilt(scene, edit, spec.model_copy(update={"size": edit.size, "params": {**spec.params, **edit.params}}))
        case ChangeSupport():
            item = _item(scene, edit)
            if edit.parent is not None:
                _find(scene, edit, edit.parent)
            moved = {"parent": edit.parent, "relation": edit.relation, "support": edit.support, "pose": edit.pose}
            return _valid(edit, scene, item.model_copy(update=moved))
        case SetJoint():
            item = _item(scene, edit)
            if edit.joint not in assets.build(item.asset).joints:
                raise EditError(edit, f"'{item.id}' has no joint '{edit.joint}'")
            return scene.with_item(item.model_copy(update={"joints": {**item.joints, edit.joint: edit.fraction}}))
        case _:
            raise EditError(edit, "it is no edit of a scene")


Named = MoveItem | Unblock | TurnItem | SwapAsset | Resize | ChangeSupport | SetJoint | RemoveItem


def _item(scene: SceneSpec, edit: Named) -> Item:
    return _find(scene, edit, edit.item)


def _find(scene: SceneSpec, edit: Edit, name: str) -> Item:
    try:
        return scene.item(name)
    except KeyError as error:
        raise EditError(edit, str(error.args[0])) from error


def _valid(edit: Edit, scene: SceneSpec, changed: Item) -> SceneSpec:
    try:
        return SceneSpec.model_validate(scene.with_item(changed).model_dump())
    except ValueError as error:
        raise EditError(edit, str(error)) from error


def _added(scene: SceneSpec, edit: AddItem) -> SceneSpec:
    try:
        return SceneSpec.model_validate({**scene.model_dump(), "items": [*scene.model_dump()["items"], edit.item.model_dump()]})
    except ValueError as error:
        raise EditError(edit, str(error)) from error


def _removed(scenario: Scenario, edit: RemoveItem) -> SceneSpec:
    scene = scenario.scene
    gone = {_item(scene, edit).id}
    for _ in scene.items:
        gone |= {i.id for i in scene.items if i.parent in gone}
    needed = [*predicates(scenario.task.goal), *scenario.task.initial]
    used = {split_reference(a)[0] for p in needed for a in p.args} & gone
    if used:
        raise EditError(edit, f"the task needs {', '.join(sorted(used))}")
    rooms = tuple(r.model_copy(update={"furniture": tuple(i for i in r.furniture if i not in gone)}) for r in scene.rooms)
    return scene.model_copy(update={"items": tuple(i for i in scene.items if i.id not in gone), "rooms": rooms})


def _rebuilt(scene: SceneSpec, edit: SwapAsset | Resize, spec: AssetSpec) -> SceneSpec:
    """The scene with an item of another build. It is placed anew; what stands in or on furniture keeps its place there."""
    item = _item(scene, edit)
    try:
        built = assets.build(spec)
    except SmithError as error:
        raise EditError(edit, str(error)) from error
    joints = {name: fraction for name, fraction in item.joints.items() if name in built.joints}
    changed = item.model_copy(update={"asset": spec, "pose": None, "joints": joints, "fixed": built.fixed})
    if not item.fixed:
        for other in scene.items:
            if other.parent == item.id:
                scene = scene.with_item(other.model_copy(update={"pose": None}))
    return scene.with_item(changed)


def _unaimed(scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"scene": scenario.scene.model_copy(update={"cameras": (), "lights": ()})})


def _laid_out(scenario: Scenario, edit: LayOut) -> Scenario:
    scene = scenario.scene
    for name in dict.fromkeys((*edit.poses, *edit.assets)):
        item = _find(scene, edit, name)
        changed = {"pose": edit.poses.get(name, item.pose), "asset": edit.assets.get(name, item.asset)}
        scene = scene.with_item(item.model_copy(update=changed))
    around = {"cameras": edit.cameras, "lights": edit.lights, "rooms": edit.rooms, "walls": edit.walls}
    scene = scene.model_copy(update=around)
    body = scenario.embodiment.model_copy(update={"base": edit.base})
    return scenario.model_copy(update={"scene": scene, "embodiment": body})


# ---------------------------------------------------------------------- robot


def _with_robot(scenario: Scenario, edit: ChangeEmbodiment) -> Scenario:
    """Another robot needs another room: everything is laid out anew round it."""
    try:
        new = embodiments.get(edit.name)
    except SmithError as error:
        raise EditError(edit, str(error)) from error
    drives = [robot.base.kind == "planar" for robot in (embodiments.get(scenario.embodiment.name), new)]
    horizon = scenario.task.horizon * DRIVING ** (drives[1] - drives[0])
    scene = scenario.scene.model_copy(
        update={"items": tuple(item.model_copy(update={"pose": None}) for item in scenario.scene.items)}
    )
    body = scenario.embodiment.model_copy(update={"name": edit.name, "base": None})
    task = scenario.task.model_copy(update={"horizon": horizon})
    return _unaimed(scenario.model_copy(update={"scene": scene, "embodiment": body, "task": task}))


# ---------------------------------------------------------------------- task


def _on_task(scenario: Scenario, edit: ChangeArgument | SplitGoal | SetTolerance | Rephrase) -> Scenario:
    task = scenario.task
    match edit:
        case Rephrase():
            task = task.model_copy(update={"instructions": {**task.instructions, edit.language: edit.text}})
            return scenario.model_copy(update={"task": task})
        case SplitGoal():
            goal = _split(edit, task.goal)
        case ChangeArgument():
            goal = _changed(edit, task.goal, lambda p: _with_argument(edit, p))
        case SetTolerance():
            goal = _changed(edit, task.goal, lambda p: p.model_copy(update={"params": {**p.params, edit.name: edit.value}}))
    return _said_anew(scenario.model_copy(update={"task": task.model_copy(update={"goal": goal})}))


def _split(edit: SplitGoal, goal: Goal) -> Goal:
    if not isinstance(goal, All):
        raise EditError(edit, "only an `all` has parts that can come first")
    if not set(edit.first) < set(range(len(goal.goals))):
        raise EditError(edit, f"the goal has {len(goal.goals)} parts, of which fewer than all come first")
    first = tuple(goal.goals[k] for k in sorted(set(edit.first)))
    return Sequence(goals=(first[0] if len(first) == 1 else All(goals=first), goal))


def _with_argument(edit: ChangeArgument, predicate: Predicate) -> Predicate:
    if edit.argument >= len(predicate.args):
        raise EditError(edit, f"'{predicate.name}' has {len(predicate.args)} arguments")
    args = tuple(edit.value if k == edit.argument else a for k, a in enumerate(predicate.args))
    return predicate.model_copy(update={"args": args})


def _changed(edit: ChangeArgument | SetTolerance, goal: Goal, change: Callable[[Predicate], Predicate]) -> Goal:
    if edit.predicate >= len(list(predicates(goal))):
        raise EditError(edit, f"the goal has {len(list(predicates(goal)))} predicates")
    left = [edit.predicate]

    def visit(part: Goal) -> Goal:
        match part:
            case Predicate():
                left[0] -= 1
                return change(part) if left[0] == -1 else part
            case Not():
                return Not(goal=visit(part.goal))
            case _:
                return part.model_copy(update={"goals": tuple(visit(g) for g in part.goals)})

    return visit(goal)


def _said_anew(scenario: Scenario) -> Scenario:
    """Instructions written again: other things in the scene may need other words to be told apart."""
    task = scenario.task
    try:
        said = {language: instruction(task.goal, scenario.scene, language, task.initial) for language in task.instructions}
    except (SmithError, KeyError) as error:
        raise EditError(Rephrase(language="en", text="?"), f"the goal cannot be said: {error}") from error
    return scenario.model_copy(update={"task": task.model_copy(update={"instructions": said})})
