"""Autonomous mode: what is thought of makes sense, the archive fills where it is empty, and near-duplicates are told."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from forge_scenes import draft, item, says

from embodiedsmith import api, cli
from embodiedsmith.assets import build, categories
from embodiedsmith.bench import scenes
from embodiedsmith.episodes import auto
from embodiedsmith.episodes.forging import forged, scenarios_of
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.forge.asked import faults
from embodiedsmith.forge.auto import sense
from embodiedsmith.forge.auto.agent import AutoAgent
from embodiedsmith.forge.auto.archive import NEAR, Archive, Entry
from embodiedsmith.forge.auto.attempt import horizon
from embodiedsmith.forge.auto.cells import HORIZONS, NOT_STAGED, SPANS, Cell, cell_of, horizon_of, reachable, room_for, workable
from embodiedsmith.forge.auto.compose import NoPlot, Plot, compose
from embodiedsmith.forge.auto.diversity import diversity, embedding_similarity, self_bleu
from embodiedsmith.forge.auto.signature import distance, jaccard, signature
from embodiedsmith.forge.critics import Context, critics, review
from embodiedsmith.forge.critics.novelty import NoveltyCritic
from embodiedsmith.forge.layout import layout
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.run import Run
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import All, Predicate, Scenario, predicates, split_reference
from embodiedsmith.tasks import Event, goal_faults, predicate, predicate_names

ROBOTS = ("panda", "panda_mobile", "ur5e")


@pytest.fixture(scope="module")
def cells() -> tuple[Cell, ...]:
    return reachable(ROBOTS)


@pytest.fixture(scope="module")
def plots(cells: tuple[Cell, ...]) -> list[Plot]:
    """Plots of cells from all over; what no plot is found for is left out."""
    rng = generator(0, "plots")
    found = []
    for k in rng.choice(len(cells), size=40, replace=False):
        try:
            found.append(compose(cells[k], rng, {}))
        except NoPlot:
            continue
    return found


# ---------------------------------------------------------------------- what people put where


def test_things_go_where_people_put_them() -> None:
    assert sense.holds("fridge", "apple") and not sense.holds("fridge", "knife") and not sense.holds("fridge", "book")
    assert sense.holds("mug", "spoon") and not sense.holds("mug", "apple")
    assert sense.holds("block", "block") and not sense.holds("sponge", "mug")
    assert all(sense.holds("table", name) for name in categories())
    assert sense.family("apple") == "fruit" and sense.family("mug") == "drinkware" and sense.family("table") == "furniture"


def test_every_setting_has_a_surface_furniture_and_things() -> None:
    for setting in sense.SETTINGS:
        assert sense.usual(sense.surface_of(setting)).affordances.supports
        assert any(sense.usual(name).joints for name in sense.furniture_of(setting))
        assert len(sense.movable(setting)) > 5
    assert "fridge" in sense.furniture_of("kitchen") and "fridge" not in sense.furniture_of("room")
    assert not any(sense.stands(name) == "floor" for name in sense.furniture_of("tabletop"))


# ---------------------------------------------------------------------- cells


def test_horizons_cover_every_number_of_skills() -> None:
    assert [horizon_of(n) for n in (1, 2, 3, 4, 6, 7, 30)] == ["1", "2-3", "2-3", "4-6", "4-6", "7+", "7+"]


def can_be_handled(name: str) -> bool:
    """Whether a robot can take a thing of a category, or work a part of it: of a plain work surface neither."""
    asset = sense.usual(name)
    return bool(asset.joints) if categories()[name].role == "furniture" else asset.matter is None or asset.matter.kind == "soft"


def test_what_is_not_proposed_has_its_reason() -> None:
    """What is proposed is about doors and drawers or one thing that keeps its shape, but for those named here."""
    named = {"at", "upright", "straightened", "in_left_hand", "in_right_hand", "in_both_hands", "reoriented", "squeezed"}
    others = {name for name in predicate_names() if predicate(name).roles[0].need not in ("movable", "joint")}
    assert named | others == NOT_STAGED


def test_a_part_is_worked_only_in_ways_it_can_be() -> None:
    turned, opened = predicate("turned"), predicate("open")
    assert workable("knob", turned) == ("knob",) and workable("faucet", turned) == ("lever",)
    assert not workable("drawer_unit", turned) and workable("drawer_unit", opened) and not workable("table", opened)


def test_every_predicate_setting_robot_and_horizon_can_be_reached(cells: tuple[Cell, ...]) -> None:
    assert len(set(cells)) == len(cells)
    assert {name for cell in cells for name in cell.predicates} == set(predicate_names()) - NOT_STAGED
    assert {cell.setting for cell in cells} == set(sense.SETTINGS)
    assert {cell.embodiment for cell in cells} == set(ROBOTS)
    assert {cell.horizon for cell in cells} == set(HORIZONS)
    assert {cell.family for cell in cells} == {sense.family(n) for n in categories() if can_be_handled(n)}


def test_no_cell_asks_for_what_cannot_be(cells: tuple[Cell, ...]) -> None:
    assert not [c for c in cells if c.horizon == "1" and "inside" in c.predicates]  # a pick and a place are two
    assert not [c for c in cells if c.predicates == ("unmoved",)]  # true from the start
    assert not [c for c in cells if {"grasped", "lifted"} <= set(c.predicates)]  # one hand
    assert not [c for c in cells if c.family == "toy" and c.setting == "kitchen"]


# ---------------------------------------------------------------------- plots


def test_a_plot_is_what_its_cell_asks_for(plots: list[Plot]) -> None:
    assert len(plots) > 30
    for plot in plots:
        low, high = SPANS[plot.cell.horizon]
        assert low <= plot.skills <= high
        scenario = AutoAgent(plot).propose(AutoAgent(plot).brief(0), generator(0, "p")).scenario
        assert cell_of(scenario, plot.skills) == plot.cell


def test_a_plot_can_be_and_leaves_room(plots: list[Plot]) -> None:
    for plot in plots:
        assert not goal_faults(plot.goal, {i.id: build(i.asset) for i in plot.items})
        surface = plot.items[0]
        assert sense.room_taken(plot.items, surface.id, plot.goal) <= room_for(plot.cell.embodiment, surface.asset.category)


def test_what_goes_somewhere_belongs_there(plots: list[Plot]) -> None:
    for plot in plots:
        names = {i.id: i.asset.category for i in plot.items}
        placed = [p for p in predicates(plot.goal) if p.name in ("inside", "on")]
        assert all(sense.holds(names[split_reference(p.args[1])[0]], names[p.args[0]]) for p in placed)
        starts = [i for i in plot.items if not i.fixed and i.parent is not None]
        assert all(sense.holds(names[i.parent], i.asset.category) for i in starts if i.parent is not None)
        assert all(sense.at_home(i.asset.category, plot.cell.setting) for i in plot.items)


def test_no_two_things_start_in_one_bowl() -> None:
    """Hands do not get round the one for the other."""
    cell = Cell(setting="counter", predicates=("lifted", "on"), family="fruit", embodiment="panda", horizon="4-6")
    started = []
    for k in range(12):
        things = {i.id: i for i in compose(cell, generator(k), {}).items}
        carriers = [i.parent for i in things.values() if i.parent is not None and not things[i.parent].fixed]
        assert len(carriers) == len(set(carriers))
        started += carriers
    assert len(started) > 5


def test_nothing_soft_merely_lies_about(plots: list[Plot]) -> None:
    """What bends costs more to simulate than all the rest."""
    lying = []
    for plot in plots:
        things = {i.id for i in plot.items}
        drafts = [AutoAgent(plot).propose(AutoAgent(plot).brief(0), generator(7, k)).scenario for k in range(2)]
        lying += [i for draft in drafts for i in draft.scene.items if i.id not in things]
    assert len(lying) > 40 and all(build(i.asset).matter is None for i in lying)


def test_rare_things_are_taken_rather(cells: tuple[Cell, ...]) -> None:
    cell = next(c for c in cells if c.predicates == ("lifted",) and c.family == "fruit" and c.horizon == "1")
    used = {name: 1000 for name in categories() if name != "lemon"}
    taken = [compose(cell, generator(k), used).goal for k in range(8)]
    assert sum(isinstance(goal, Predicate) and goal.args == ("lemon",) for goal in taken) >= 7


def test_a_cell_without_a_plot_says_which() -> None:
    cell = Cell(setting="tabletop", predicates=("inside",), family="toy", embodiment="panda", horizon="1")
    with pytest.raises(NoPlot, match=r"inside of toy, 1 skills, tabletop, panda: no goal was found"):
        compose(cell, generator(0), {})


# ---------------------------------------------------------------------- the agent


def test_drafts_please_every_critic_of_drafts(plots: list[Plot]) -> None:
    judges = [critic for critic in critics() if critic.on_draft]
    for plot in plots:
        agent = AutoAgent(plot)
        proposed = agent.propose(agent.brief(3), generator(3, "propose"))
        assert review(Context(proposed.scenario), among=judges).findings == []
        assert all(i.pose is None for i in proposed.scenario.scene.items)


def test_draws_vary_the_scene_and_never_the_goal(plots: list[Plot]) -> None:
    agent = AutoAgent(plots[0])
    drafts = [agent.propose(agent.brief(0), generator(0, k)).scenario for k in range(6)]
    assert all(d.task.goal == plots[0].goal and d.task.instructions["en"] == agent.text for d in drafts)
    assert len({d.id for d in drafts}) == 6
    assert drafts[0] == agent.propose(agent.brief(0), generator(0, 0)).scenario


def test_what_is_proposed_is_what_is_asked_for(plots: list[Plot]) -> None:
    for plot in plots:
        proposed = AutoAgent(plot).propose(AutoAgent(plot).brief(0), generator(1))
        assert proposed.asked is not None and faults(proposed.asked, proposed.scenario) == []


def test_only_a_robot_that_was_named_is_kept(plots: list[Plot]) -> None:
    free, kept = (AutoAgent(plots[0], keep_robot=keep) for keep in (False, True))
    asked = [agent.propose(agent.brief(0), generator(0)).asked for agent in (free, kept)]
    assert [a.embodiment for a in asked if a is not None] == [None, plots[0].cell.embodiment]


# ---------------------------------------------------------------------- the archive


def _entry(index: int, cell: Cell) -> Entry:
    goal = signature(draft([item("table"), item("mug", "table")], says("lifted", "mug")))
    return Entry(index=index, scenario=f"{index:016x}", cell=cell, signature=goal, instruction=f"do {index}")


def test_the_emptiest_cells_come_first_and_axes_are_filled_evenly() -> None:
    archive = Archive(ROBOTS)
    chosen = archive.emptiest(24, generator(1))
    assert len(set(chosen)) == 24
    for axis in ("setting", "embodiment", "horizon"):
        counts = [sum(getattr(c, axis) == value for c in chosen) for value in {getattr(c, axis) for c in chosen}]
        assert max(counts) - min(counts) <= 2  # five axes are evened out at once
    assert chosen == Archive(ROBOTS).emptiest(24, generator(1))
    filled = Archive(ROBOTS, [_entry(k, cell) for k, cell in enumerate(chosen)])
    assert not set(filled.emptiest(24, generator(1))) & set(chosen)
    assert filled.filled == set(chosen)


def test_what_failed_is_tried_less() -> None:
    first = Archive(ROBOTS).emptiest(1, generator(2))[0]
    archive = Archive(ROBOTS)
    for k in range(3):
        archive.missed(k, first, {"motion.blocked": 2})
    again = archive.emptiest(20, generator(2))
    assert not [c for c in again if (c.predicates, c.horizon) == (first.predicates, first.horizon)]


def test_an_archive_reads_back(cells: tuple[Cell, ...]) -> None:
    archive = Archive(ROBOTS, [_entry(0, cells[5])])
    archive.missed(1, cells[9], {"auto.no_goal": 1})
    again = Archive.from_json(json.loads(json.dumps(archive.to_json())))
    assert again.to_json() == archive.to_json()
    assert again.emptiest(4, generator(0)) == archive.emptiest(4, generator(0))


# ---------------------------------------------------------------------- novelty


def _scene(*names: str, goal: Predicate, robot: str = "panda") -> Scenario:
    return draft([item("table"), *(item(name, "table") for name in names)], goal, robot=robot)


def test_distance_is_one_of_signatures() -> None:
    first = signature(_scene("mug", "plate", goal=says("on", "mug", "plate")))
    second = signature(_scene("apple", "bowl", "book", goal=says("inside", "apple", "bowl"), robot="ur5e"))
    assert distance(first, first) == 0.0
    assert 0.0 < distance(first, second) == distance(second, first) <= 1.0
    renamed = draft([item("table"), item("mug_1", "table"), item("plate_1", "table")], says("on", "mug_1", "plate_1"))
    assert signature(renamed) == first
    parts = (says("on", "mug", "plate"), says("lifted", "mug"))
    both, turned = (signature(draft([item("table"), item("mug", "table"), item("plate", "table")], All(goals=g)))
                    for g in (parts, parts[::-1]))  # fmt: skip
    assert both == turned and both.shape == "all(lifted, on)"


def test_novelty_refuses_what_is_there_already_and_nothing_else() -> None:
    known = _scene("mug", "plate", "book", goal=says("on", "mug", "plate"))
    archive = Archive(ROBOTS)
    archive.entries.append(_entry(7, Archive(ROBOTS).cells[0]).model_copy(update={"signature": signature(known)}))
    critic = NoveltyCritic(archive)
    near = _scene("mug", "plate", "book", "apple", goal=says("on", "mug", "plate"))
    (finding,) = critic.review(Context(near))
    assert finding.code == "novelty.duplicate" and finding.value is not None and finding.value < NEAR == finding.limit
    assert "scenario 7" in finding.message and "mug" in finding.subjects
    assert critic.review(Context(_scene("mug", "plate", goal=says("near", "mug", "plate"), robot="ur5e"))) == []
    assert NoveltyCritic().review(Context(near)) == []
    assert {c.name: c for c in critics()}["novelty"].codes.keys() == {"novelty.duplicate"}


# ---------------------------------------------------------------------- diversity


def test_jaccard_counts_multiples() -> None:
    assert jaccard(["a", "b"], ["a", "b"]) == 0.0
    assert jaccard(["a"], ["b"]) == 1.0
    assert jaccard(["a", "a"], ["a"]) == 0.5
    assert jaccard([], []) == 0.0


def test_self_bleu_is_one_for_copies_and_small_for_strangers() -> None:
    text = "put the red mug on the plate"
    assert self_bleu([text] * 3) == pytest.approx(1.0)
    strangers = self_bleu(["open every drawer quickly now", "lift that heavy pan here", "close both doors with care"])
    assert strangers < 0.05
    mixed = self_bleu([text, "put the red mug on the tray", "open the fridge"])
    assert strangers < mixed < 1.0
    assert self_bleu([text]) == 0.0


def test_embeddings_tell_like_instructions_from_unlike() -> None:
    alike = embedding_similarity(["put the mug on the plate", "put the cup on the plate"])
    unlike = embedding_similarity(["put the mug on the plate", "open the fridge"])
    assert 0.0 < unlike < alike <= 1.0 + 1e-6


def test_diversity_counts_what_the_archive_holds(cells: tuple[Cell, ...]) -> None:
    archive = Archive(ROBOTS, [_entry(0, cells[0]), _entry(1, cells[0]), _entry(2, cells[-1])])
    found = diversity(archive)
    assert (found.scenarios, found.goals, found.cells_filled, found.cells_reachable) == (3, 1, 2, len(cells))
    assert sum(found.horizons.values()) == sum(found.settings.values()) == 3
    assert found.asset_jaccard == 0.0
    assert 0 < found.pairs_filled < found.pairs_reachable


# ---------------------------------------------------------------------- the stage of a run


def test_driving_and_repeats_do_not_lengthen_the_horizon() -> None:
    said = ["navigate(table)", "pick(mug, table.top)", "place(mug, tray.inside)", "navigate(table)", "pick(mug, table.top)"]
    assert horizon(Event(step=k, kind="skill_done", text=text) for k, text in enumerate(said)) == 2


def _bytes(run: Path) -> dict[str, object]:
    """What a run holds that must not depend on how it was made: costs are measured and left out."""
    found: dict[str, object] = {}
    for path in sorted((run / "scenarios").iterdir()):
        if path.name.endswith(".certificate.json"):
            found[path.name] = {k: v for k, v in json.loads(path.read_text()).items() if k != "costs"}
        elif path.name.startswith("forge-"):
            found[path.name] = [
                {k: v for k, v in json.loads(line).items() if k != "cost"} for line in path.read_text().splitlines()
            ]
        else:
            found[path.name] = path.read_bytes()
    return {**found, "archive": (run / "archive.json").read_bytes()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, api.RunResult]:
    """A run of two scenarios and what was said of it; copy it before changing it."""
    folder = tmp_path_factory.mktemp("auto") / "run"
    return folder, api.forge_auto(n=2, out=folder, seed=17, embodiment="panda", budget=90)


def test_a_run_without_a_brief_says_how_varied_it_is(made: tuple[Path, api.RunResult]) -> None:
    folder, result = made
    assert result.complete and result.scenarios == 2 and result.diversity is not None
    assert result.diversity["embodiments"] == {"panda": 2}
    assert result.diversity["cells_reachable"] == len(reachable(("panda",)))
    assert result.to_json()["diversity"] == result.diversity
    with Run.open(folder) as run:
        store = EpisodeStore(run)
        assert [s.embodiment.name for s in scenarios_of(store)] == ["panda", "panda"]
        archive = auto.archive_of(store)
        assert [entry.scenario for entry in archive.entries] == [s.id for s in scenarios_of(store)]
        for entry, scenario in zip(archive.entries, scenarios_of(store), strict=True):
            assert entry.cell == cell_of(scenario, horizon(store.witness(scenario.id).events))
    assert [f for f in api.validate(folder) if f.severity == "error"] == []


def test_an_interrupted_run_ends_as_one_that_was_not(made: tuple[Path, api.RunResult], tmp_path: Path) -> None:
    before = _bytes(made[0])
    shutil.copytree(made[0], tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        last = [entry for entry in forged(EpisodeStore(run)) if entry.scenario is not None][-1]
    (tmp_path / "run" / "scenarios" / f"forge-{last.index:04d}.jsonl").unlink()  # killed before it wrote its log
    (tmp_path / "run" / "scenarios" / f"{last.scenario}.json").unlink()
    (tmp_path / "run" / "archive.json").unlink()
    assert api.resume(tmp_path / "run", workers=2).complete
    assert _bytes(tmp_path / "run") == before


def test_of_two_alike_in_one_round_the_first_stays(made: tuple[Path, api.RunResult], tmp_path: Path) -> None:
    shutil.copytree(made[0], tmp_path / "run")
    with Run.open(tmp_path / "run", write=True) as run:
        store = EpisodeStore(run)
        entry = next(e for e in forged(store) if e.scenario is not None)
        scenario = store.scenario(str(entry.scenario))
        for other in forged(store):
            if other.index > entry.index:
                run.file("scenarios", f"forge-{other.index:04d}.jsonl").unlink()
        twin = scenario.model_copy(update={"randomization": scenario.randomization.model_copy(update={"position": 0.01})})
        run.file("scenarios", f"{twin.id}.json").write_text(twin.to_json())
        log = dataclasses.asdict(dataclasses.replace(entry, index=entry.index + 1, scenario=twin.id))
        run.file("scenarios", f"forge-{entry.index + 1:04d}.jsonl").write_text(json.dumps(log) + "\n")
        archive = Archive(("panda",))
        auto._fold(store, archive, entry.index, [archive.cells[0]] * 2)
        assert [e.index for e in archive.entries] == [entry.index]
        assert archive.failed[0].codes == {"novelty.duplicate": 1}
        assert store.scenario_ids() == [scenario.id]
        dropped = forged(store)[-1]
        assert dropped.scenario is None and dropped.error is not None and "is much like scenario" in dropped.error


def test_a_robot_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pandaa"):
        api.forge_auto(n=1, out=tmp_path / "run", embodiment="pandaa")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["forge"], "there is no brief"),
        (["forge", "--auto", "put the mug on the plate"], "give a brief or --auto, not both"),
        (["forge", "--auto", "--mode", "none"], "--auto has an agent and a mode of its own"),
    ],
)
def test_forge_wants_a_brief_or_auto(arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*arguments, "--out", str(tmp_path / "run")]) == 2
    assert said in capsys.readouterr().err


# ---------------------------------------------------------------------- scenes at rest


def test_a_laid_out_scene_rests() -> None:
    scenario = layout(_scene("mug", "plate", "apple", goal=says("on", "mug", "plate")), generator(0))
    rest = scenes.watch(scenario, 0)
    assert rest.faults == [] and rest.depth < scenes.DEPTH and rest.shift < scenes.SHIFT
    found = scenes.summary([rest])
    assert (found["scenes"], found["at_rest"], found["faults"]) == (1, 1, [])


def test_things_in_each_other_and_what_rolls_are_told() -> None:
    scenario = layout(_scene("mug", "plate", goal=says("on", "mug", "plate")), generator(0))
    mug, plate = scenario.scene.item("mug"), scenario.scene.item("plate")
    inside = scenario.model_copy(update={"scene": scenario.scene.with_item(mug.model_copy(update={"pose": plate.pose}))})
    rest = scenes.watch(inside, 0)
    assert "settle" in rest.fault or "rest" in rest.fault
    found = scenes.summary([rest, scenes.Rest(scenario="a", shift=0.006, shifted="can", depth=0.002, deepest=("can", "tray"))])
    assert found["at_rest"] == 0
    assert found["faults"][1]["said"] == ["can and tray are 2.00 mm in each other", "can strays 6.0 mm"]
    assert np.isclose(found["shift_m"]["worst"], 0.006)
