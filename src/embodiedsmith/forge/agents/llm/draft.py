"""From an answer to a draft: checked against the catalogue, every fault at once, and completed with what is plain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from embodiedsmith import embodiments
from embodiedsmith.assets import Asset, build, categories
from embodiedsmith.assets.category import InvalidAsset
from embodiedsmith.forge import asked
from embodiedsmith.forge.agents.agent import Draft
from embodiedsmith.forge.agents.furnish import HUNG, ON_SURFACE
from embodiedsmith.forge.agents.llm.catalogue import count_name, params_of
from embodiedsmith.forge.agents.llm.schema import Answer, Clause, Group, InnerGroup, Plan, ProposedGoal, ProposedItem
from embodiedsmith.forge.agents.llm.text import clean
from embodiedsmith.forge.language.clauses import SURFACES
from embodiedsmith.spec import (
    All,
    Any,
    Asked,
    AskedItem,
    AssetSpec,
    Brief,
    EmbodimentSpec,
    Goal,
    Item,
    Language,
    Not,
    Predicate,
    Provenance,
    Scenario,
    SceneSpec,
    Sequence,
    TaskSpec,
    predicates,
    split_reference,
)
from embodiedsmith.spec.scene import Setting
from embodiedsmith.tasks import goal_faults, instruction
from embodiedsmith.tasks.text import check_text
from embodiedsmith.world.compile import RESERVED

SKILL_SECONDS = 20.0
"""Time allowed for each skill that the goal takes [s]."""
LEAST_SECONDS = 40.0
"""Shortest horizon [s]."""
OPEN = 0.8
"""Fraction to which what is open at the start is open."""
SURFACE_ID = "surface"


def faults(answer: Answer, brief: Brief) -> list[str]:
    """Everything for which an answer cannot be used; empty: it can."""
    if answer.plan is None:
        return _refusal_faults(answer, brief)
    if answer.problems:
        return ["there are problems and a plan: either give a plan and no problems, or set plan to null"]
    found = [*_item_faults(answer.plan), *_robot_faults(answer.plan, brief)]
    if found:
        return found
    try:
        scene = _scene(answer.plan)
    except ValueError as error:
        return [clean(str(error), 600)]
    found = list(_place_faults(scene))
    goal, start = goal_of(answer.plan.goal), tuple(_predicate(clause) for clause in answer.plan.start)
    built = {item.id: build(item.asset) for item in scene.items}
    found += [f"goal: {fault}" for fault in goal_faults(goal, built)]
    found += [f"start: {fault}" for fault in goal_faults(All(goals=start), built)] if start else []
    denied = [clause.predicate for clause in answer.plan.start if not clause.holds]
    found += [f"start: '{name}' cannot be denied at the start: holds must be true" for name in denied]
    if not found:
        made = draft(answer, brief)
        assert made.asked is not None  # every draft of this agent says what the words fix
        found += asked.faults(made.asked, made.scenario)
        if all(_from_the_start(p, scene) for p in predicates(goal)):
            found.append("the goal holds from the start: let what is to be moved start elsewhere")
    return list(dict.fromkeys(found))


def doubts(answer: Answer, brief: Brief) -> list[str]:
    """What of the goal the brief's words do not seem to ask for: its verbs are judged, which words are free to defy."""
    if answer.plan is None:
        return []
    finding = check_text(brief.text, goal_of(answer.plan.goal))
    return [] if finding is None else [clean(finding.message, 600)]


def draft(answer: Answer, brief: Brief) -> Draft:
    """The draft of an answer without faults (see `faults`)."""
    plan = answer.plan
    if plan is None:
        raise ValueError("an answer without a plan has no draft")
    scene = _scene(plan)
    goal = goal_of(plan.goal)
    robot = plan.robot or ("panda" if brief.embodiment == "any" else brief.embodiment)
    task = TaskSpec(
        goal=goal,
        initial=tuple(_predicate(clause) for clause in plan.start),
        instructions={"en": instruction(goal, scene, "en"), "zh": instruction(goal, scene, "zh")},
        user_text=brief.text,
        horizon=_horizon(goal, scene, travels=embodiments.get(robot).base.kind == "planar"),
    )
    scenario = Scenario(
        scene=scene,
        task=task,
        embodiment=EmbodimentSpec(name=robot),
        provenance=Provenance(brief=brief, agent="llm", seed=brief.seed),
    )
    language: Language = "zh" if re.search(r"[\u4e00-\u9fff]", brief.text) else "en"
    things = ", ".join(f"{item.asset.color + ' ' if item.asset.color else ''}{item.id}" for item in scene.items)
    said = clean(answer.understood)
    return Draft(
        scenario=scenario,
        reading=f"{task.instructions[language]} [{scene.setting}: {things}]" + (f" ({said})" if said else ""),
        warnings=tuple(doubts(answer, brief)),
        asked=_asked(plan, goal, scene),
    )


# ---------------------------------------------------------------------- goals


def goal_of(group: ProposedGoal | Group | InnerGroup) -> Goal:
    """The goal that a group of clauses says; a group of one is its one."""
    parts = tuple(_predicate_or_not(p) if isinstance(p, Clause) else goal_of(p) for p in group.parts)
    if len(parts) == 1:
        return parts[0]
    match group.how:
        case "any":
            return Any(goals=parts)
        case "sequence":
            return Sequence(goals=parts)
        case _:
            return All(goals=parts)


def _predicate(clause: Clause) -> Predicate:
    return Predicate(name=clause.predicate, args=clause.args, params={n.name: n.value for n in clause.numbers})


def _predicate_or_not(clause: Clause) -> Goal:
    return _predicate(clause) if clause.holds else Not(goal=_predicate(clause))


def _horizon(goal: Goal, scene: SceneSpec, *, travels: bool) -> float:
    """Time for the skills: a pick and a place for what relates two things, one skill for the rest, one to open each way in."""
    count = 0
    joints = {ref for p in predicates(goal) for ref in p.args if p.name in ("open", "turned")}
    for p in predicates(goal):
        count += 2 if len(p.args) > 1 else 1
        ways = {arg for arg in p.args[1:] if _joints(scene, arg)} - joints
        joints |= ways
        count += len(ways)
    return max(LEAST_SECONDS, SKILL_SECONDS * count * (2 if travels else 1))


def _joints(scene: SceneSpec, reference: str) -> list[str]:
    item, part = split_reference(reference)
    names = list(build(scene.item(item).asset).joints)
    return names if part is None else [name for name in names if name == part]


# ---------------------------------------------------------------------- the scene


def _spec(item: ProposedItem) -> AssetSpec:
    params = params_of(item.category, item.parts)
    return AssetSpec(category=item.category, color=item.color, material=item.material, size=item.size, params=params)


def _stands(item: ProposedItem) -> str:
    """Where furniture without a parent belongs: `floor`, `wall` or `surface`."""
    if item.category in SURFACES:
        return "floor"
    if item.category in HUNG:
        return "wall"
    size = build(_spec(item)).size
    return "surface" if max(size[0], size[1]) <= ON_SURFACE[0] and size[2] <= ON_SURFACE[1] else "floor"


def _furniture(category: str) -> bool:
    return categories()[category].role == "furniture"


def _scene(plan: Plan) -> SceneSpec:
    """The scene without poses; raises ValueError for parents that are unknown or go in circles."""
    surface = next((item for item in plan.items if item.category in SURFACES), None)
    others = [item for item in plan.items if item.category not in SURFACES]
    name = surface.category if surface else _usual_surface(plan, others)
    surface_id = surface.id if surface else _free_id(plan)
    items = [] if surface else [Item(id=surface_id, asset=AssetSpec(category=name), fixed=True)]
    ordered = sorted(plan.items, key=lambda i: (i.category not in SURFACES, not _furniture(i.category)))
    items += [_item(item, surface_id) for item in ordered]
    on_floor = any(_furniture(item.category) and item.parent is None and _stands(item) == "floor" for item in others)
    setting: Setting = "kitchen" if on_floor else "counter"
    if name != "counter":
        setting = "room" if on_floor else "tabletop"
    return SceneSpec(setting=plan.setting or setting, items=tuple(items))


def _usual_surface(plan: Plan, others: list[ProposedItem]) -> str:
    by_setting = {"kitchen": "counter", "counter": "counter", "tabletop": "table", "room": "table"}
    furnished = any(_furniture(item.category) for item in others)
    return by_setting.get(plan.setting or "", "counter" if furnished else "table")


def _free_id(plan: Plan) -> str:
    taken = {item.id for item in plan.items}
    return next(name for name in (SURFACE_ID, *(f"{SURFACE_ID}_{k}" for k in range(len(taken)))) if name not in taken)


def _item(item: ProposedItem, surface: str) -> Item:
    joints = {j.joint: OPEN if j.state == "open" else 0.0 for j in item.joints}
    spec, fixed = _spec(item), _furniture(item.category)
    if fixed and item.parent is None:
        stands = _stands(item)
        parent = surface if stands == "surface" else None
        relation = "attached" if stands == "wall" else "on"
        return Item.model_validate(
            {"id": item.id, "asset": spec, "parent": parent, "relation": relation, "joints": joints, "fixed": True}
        )
    parent, relation = (surface, "on") if item.parent is None else (item.parent, item.relation)
    part = None if item.parent is None else item.part
    return Item.model_validate(
        {"id": item.id, "asset": spec, "parent": parent, "relation": relation, "support": part, "joints": joints, "fixed": fixed}
    )


# ---------------------------------------------------------------------- what is wrong


def _refusal_faults(answer: Answer, brief: Brief) -> list[str]:
    if not answer.problems:
        return ["there is neither a plan nor a problem: give one of them"]
    text = " ".join(brief.text.casefold().split())
    return [
        f"problem '{clean(problem.words, 60)}': words must be copied from the sentence"
        for problem in answer.problems
        if problem.kind == "unknown" and " ".join(problem.words.casefold().split()) not in text
    ]


def _item_faults(plan: Plan) -> Iterator[str]:
    ids = [item.id for item in plan.items]
    yield from (f"id '{name}' is taken, as are {sorted(RESERVED)}" for name in ids if name in RESERVED)
    yield from (f"id '{name}' is used {ids.count(name)} times" for name in dict.fromkeys(ids) if ids.count(name) > 1)
    for item in plan.items:
        if item.parent is not None and item.parent not in ids:
            yield f"'{item.id}': its parent '{item.parent}' is not among the items {ids}"
        if item.parts is not None and count_name(categories()[item.category]) is None:
            yield f"'{item.id}': a {item.category} has no number of parts to choose: parts must be null"
        try:
            asset = build(_spec(item))
        except InvalidAsset as error:
            yield f"'{item.id}': {clean(str(error), 400)}"
            continue
        for joint in item.joints:
            if joint.joint not in asset.joints:
                yield f"'{item.id}' has no '{joint.joint}' that opens; it has {sorted(asset.joints)}"


def _place_faults(scene: SceneSpec) -> Iterator[str]:
    built = {item.id: build(item.asset) for item in scene.items}
    for item in scene.items:
        if item.parent is not None and item.relation != "attached":
            yield from _carrier_faults(item, built[item.parent])


def _carrier_faults(item: Item, carrier: Asset) -> Iterator[str]:
    inside = item.relation == "inside"
    names = [c.name for c in carrier.affordances.cavities] if inside else [s.name for s in carrier.affordances.supports]
    what = "hold things inside" if inside else "carry things"
    if not names:
        yield f"'{item.id}': '{item.parent}' cannot {what}"
    elif item.support is not None and item.support not in names:
        yield f"'{item.id}': '{item.parent}' has no part '{item.support}' to {what}; it has {names}"


def _robot_faults(plan: Plan, brief: Brief) -> Iterator[str]:
    if plan.robot is not None and brief.embodiment not in ("any", plan.robot):
        yield f"the robot is {brief.embodiment}: robot must be null or that"


def _from_the_start(goal: Predicate, scene: SceneSpec) -> bool:
    if goal.name not in ("on", "inside") or len(goal.args) != 2:
        return False
    item = scene.item(goal.args[0])
    parent, part = split_reference(goal.args[1])
    return (item.relation, item.parent) == (goal.name, parent) and part in (None, item.support)


# ---------------------------------------------------------------------- what the words fix


def _asked(plan: Plan, goal: Goal, scene: SceneSpec) -> Asked:
    """What the answer says that the words fix, and never less than the goal and the things it speaks of."""
    starts = tuple(_predicate(clause) for clause in plan.start)
    spoken = {split_reference(arg)[0] for p in (*predicates(goal), *starts) for arg in p.args}
    laid = {item.id: item for item in scene.items}
    items = tuple(_asked_item(item, laid[item.id]) for item in plan.items if item.said or item.id in spoken)
    return Asked(
        items=items,
        goal=goal,
        setting=plan.setting,
        at_least=plan.at_least,
        absent=plan.absent,
        counted={counted.group: counted.count for counted in plan.counted},
        embodiment=plan.robot,
    )


def _asked_item(item: ProposedItem, laid: Item) -> AskedItem:
    said = set(item.said)
    place = "place" in said and item.parent is not None
    return AskedItem(
        item=item.id,
        categories=(item.category,),
        color=item.color if "color" in said else None,
        materials=(item.material,) if "material" in said and item.material is not None else (),
        size=item.size if "size" in said else None,
        params=params_of(item.category, item.parts) if "parts" in said else {},
        parent=laid.parent if place else None,
        relation=laid.relation if place else None,
        support=laid.support if place else None,
        joints={j.joint: j.state for j in item.joints} if "state" in said else {},
    )
