"""The flywheel: a cold start from demonstrations, then rounds of explore, score and filter, train, schedule difficulty.

A round is done with when `state.json` names it. One that was cut off is done again from its beginning with the same result, for
every draw comes from the run's seed and the round's number.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.episodes.lessons import outcomes_of
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.evaluate.evaluation import Evaluation, evaluate, evaluate_demonstrator
from embodiedsmith.evaluate.intervals import Interval
from embodiedsmith.evaluate.quality import profile, reference
from embodiedsmith.evaluate.suites import Suite
from embodiedsmith.flywheel.collecting import dealer, encoded
from embodiedsmith.flywheel.curriculum import spread
from embodiedsmith.flywheel.dashboard import Dashboard
from embodiedsmith.flywheel.failures import classify
from embodiedsmith.flywheel.gathering import Gathered, Gatherer
from embodiedsmith.flywheel.growing import covered, grow
from embodiedsmith.flywheel.guards import (
    DropData,
    LowerThresholds,
    Observed,
    Retrain,
    RollBack,
    SmallerRate,
    Verdict,
    data_faults,
    load_fault,
    policy_fault,
)
from embodiedsmith.flywheel.journal import Decision, Journal
from embodiedsmith.flywheel.levels import LEVELS
from embodiedsmith.flywheel.population import Population
from embodiedsmith.flywheel.real import scenarios_near, take_in
from embodiedsmith.flywheel.replay import Labelled, Replay
from embodiedsmith.flywheel.rounds import RoundRow, append_row, read_rows, rewind
from embodiedsmith.flywheel.sampling import View
from embodiedsmith.flywheel.schooling import Schooled, cold_start, school
from embodiedsmith.flywheel.settings import FlywheelSettings
from embodiedsmith.flywheel.showing import clips, show
from embodiedsmith.flywheel.state import State, TaskState
from embodiedsmith.flywheel.tasks import Task
from embodiedsmith.flywheel.variants import Variants, folder_of
from embodiedsmith.forge import BUDGET
from embodiedsmith.learn.observation import ObservationConfig
from embodiedsmith.learn.policy import Policy, PolicyConfig
from embodiedsmith.learn.samples import default_space
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.memory import give_back
from embodiedsmith.runtime.seeds import derive, generator
from embodiedsmith.tasks import Recording

PAGE_FOLDER = "page"
CEILING = 40
"""Starts of the suite on which the demonstrator itself is tried."""
PROBES = 512
"""Moments at which the spread of the actions is measured."""
STATE = "state.json"


@dataclass
class Turn:
    """A round in the making."""

    round: int
    population: Population
    states: list[TaskState]
    gathered: list[Gathered]
    decisions: list[list[Decision]]
    """Of each task."""
    schooled: list[Schooled]
    """Of each member of the population."""
    train_seconds: float
    data_faults: tuple[str, ...] = ()
    acted: tuple[Policy, ...] = ()
    """Who explored, and what the round's policies were trained from; nobody in a cold start."""
    policy_fault: str | None = None
    """What was wrong with the checkpoints that the round began with."""

    @property
    def leader(self) -> Schooled:
        """Of the population's best."""
        return self.schooled[self.population.leader]


class Flywheel:
    """A run's flywheel, ready to go on from where it stands.

    Args:
        store: Of the run, open for writing.
        tasks: What is learnt: see `tasks.prepare`.
        settings: How.
        threads: Threads that step worlds.
        workers: Processes that demonstrate.
        budget: What drawing a brief again may cost: simulated seconds and plans.
        dashboard: Where progress is shown; None: nowhere.
    """

    def __init__(
        self, store: EpisodeStore, tasks: Sequence[Task], settings: FlywheelSettings, *, threads: int = 1, workers: int = 1,
        budget: float = BUDGET, dashboard: Dashboard | None = None,
    ) -> None:  # fmt: skip
        self.store, self.tasks, self.settings, self._budget = store, tuple(tasks), settings, budget
        self.folder = folder_of(store)
        self.folder.mkdir(exist_ok=True)
        self._seed, self._threads = store.run.seed, threads
        self._dashboard = dashboard or Dashboard("", settings.rounds, quiet=True)
        scenarios = [scenario for task in tasks for scenario in task.scenarios]
        self._observation = ObservationConfig.covering(scenarios)
        self._space = default_space(self._observation.vehicle)
        self.replay = Replay(self.folder / "replay", *dealer(scenarios[0], self._observation, self._space))
        self.journal = Journal(self.folder / "journal.jsonl")
        self._gatherer = Gatherer(store, settings, Variants(store, settings.time_limit), threads=threads, workers=workers)
        self.state = State.load(self.folder / STATE)
        self.replay.rewind(self.state.round + 1)
        self.journal.rewind(self.state.round + 1)
        rewind(self.folder, self.state.round)

    def spin(self) -> dict[str, Any]:
        """Do what is missing of the rounds asked for and of the final evaluation; gives the result, which is kept, too."""
        for row in read_rows(self.folder):
            self._dashboard.round(row)
        if self.state.round < 0:
            self._begin()
        while self.state.round < self.settings.rounds:
            self._turn(self.state.round + 1)
            give_back()
        return self._result()

    def policy(self) -> Policy:
        """The policy that the flywheel has come to: the population's leader."""
        return self._acting(self.state.round + 1)[1][self.state.population.leader]

    # ------------------------------------------------------------------ rounds

    def _begin(self) -> None:
        """Round 0: few and clean demonstrations at the first level, real episodes if there are, and a policy from them."""
        states, gathered = [], []
        for task in self.tasks:
            state = TaskState.first(self.settings, task.name)
            self._dashboard.stage(task.name, f"demonstrating at level {self.settings.start_level}")
            found = self._gatherer.begin(task, state)
            gathered.append(found)
            usual = reference(e.scores for e in found.episodes if e.success)
            states.append(covered(state.model_copy(update={"reference": usual}), found))
        kept, faults = self._keep(0, gathered)
        if faults:
            raise SmithError("the demonstrations of the cold start are not sound", faults=faults)
        decisions = [[kept, *self._real(task, state)] for task, state in zip(self.tasks, states, strict=True)]
        config = PolicyConfig(
            kind=self.settings.policy, width=self.settings.width, depth=self.settings.depth, action_space=self._space,
            observation=self._observation,
        )  # fmt: skip
        began = time.perf_counter()
        self._say("training the cold start")
        population = Population.of(self.settings.population)
        schooled = [
            cold_start(config, self.replay, self.settings, seed=self._member_seed(member.number)) for member in population.members
        ]
        turn = Turn(0, population, states, gathered, decisions, schooled, time.perf_counter() - began)
        for k, task in enumerate(self.tasks):
            self._dashboard.stage(task.name, "evaluating the demonstrator")
            ceiling = evaluate_demonstrator(_part(task.suite.at(LEVELS), CEILING)).success
            turn.states[k] = turn.states[k].model_copy(update={"demonstrator": ceiling})
        self._finish(turn, self.settings.final_evaluations)

    def _turn(self, round: int) -> None:
        at, policies, fault = self._acting(round)
        population = self.state.population
        leader = self._checkpoint(at, population.leader)
        states, gathered = list(self.state.tasks), []
        if fault is not None:  # what cannot be read is nothing to go back to
            states = [state.model_copy(update={"guards": state.guards.until(at)}) for state in states]
        for k, task in enumerate(self.tasks):
            say = partial(self._dashboard.stage, task.name)
            states[k], found = self._gatherer.gather(policies, population, leader, task, states[k], round, say)
            states[k] = covered(states[k], found)
            gathered.append(found)
        decisions = [list(found.decisions) for found in gathered]
        kept, faults = self._keep(round, gathered)
        for told in decisions:
            told.append(kept)
        began = time.perf_counter()
        self._say("training")
        schooled = [
            school(
                policy, self.replay, self.settings, round=round, seed=self._member_seed(member.number), rate=self.state.rate,
                retrain=self.state.retrain,
            )
            for member, policy in zip(population.members, policies, strict=True)
        ]  # fmt: skip
        seconds = time.perf_counter() - began
        self._finish(
            Turn(round, population, states, gathered, decisions, schooled, seconds, faults, tuple(policies), fault),
            self.settings.evaluations,
        )

    def _acting(self, round: int) -> tuple[int, list[Policy], str | None]:
        """After which round those are who explore, they, and what is wrong with their checkpoints: then it is an earlier one."""
        sound = {n for state in self.state.tasks for n, _ in state.guards.sound} - {self.state.policy}
        fault: str | None = None
        for at in (self.state.policy, *sorted(sound, reverse=True)):
            found = [load_fault(self._checkpoint(at, member.number)) for member in self.state.population.members]
            policies = [policy for policy, _ in found if policy is not None]
            if len(policies) == len(found):
                return at, policies, fault
            fault = fault or next(why for _, why in found if why is not None)
        raise SmithError(
            f"no checkpoint before round {round} can be read", where=str(self.folder / "policies"), faults=[str(fault)],
            remedy="restore the folder from a copy, or spin anew",
        )  # fmt: skip

    def _real(self, task: Task, state: TaskState) -> tuple[Decision, ...]:
        """Take in the real episodes that show a task, through the filter."""
        if self.settings.real is None:
            return ()
        folder = Path(self.settings.real)
        alike = {i: s for i, s in scenarios_near(folder).items() if s.task.goal == task.scenarios[0].task.goal}
        return take_in(
            self.replay, folder, alike or {s.id: s for s in task.scenarios[:1]}, round=0, thresholds=state.thresholds,
            reference=state.reference, profile=profile(self.settings.profile), observation=self._observation,
            action_space=self._space, task=task.name,
        )  # fmt: skip

    def _keep(self, round: int, gathered: Sequence[Gathered]) -> tuple[Decision, tuple[str, ...]]:
        """Put what passed the filter into the replay, or nothing when the guards find faults in it, which are given, too."""
        labelled = [
            Labelled(
                episode=stretch, quality=worth.value, efficiency=worth.efficiency or 0.0,
                level=episode.level, task=task.name, source=episode.source, scenario=episode.scenario.id,
                attempt=episode.recording.attempt,
            )
            for task, found in zip(self.tasks, gathered, strict=True)
            for episode, worth in sorted(found.kept, key=lambda kept: kept[0].scenario.id)  # one world after the other
            for stretch in encoded(episode, self._observation, self._space)
        ]  # fmt: skip
        low, high = self._range() if round else (None, None)
        faults = data_faults((label.episode for label in labelled), low, high)
        return self.replay.add(round, [] if faults else labelled), faults

    def _range(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of each action component in what was kept before."""
        known = View(self.replay, 1).statistics()
        return known.action_low, known.action_high

    def _finish(self, turn: Turn, trials: int) -> None:
        """Evaluate, let the guards look, and write down what the next round depends on; the state last."""
        for member, schooled in zip(turn.population.members, turn.schooled, strict=True):
            schooled.policy.save(self._checkpoint(turn.round, member.number))
        began = time.perf_counter()
        tested = self._tried(turn, trials)
        policy = turn.leader.policy
        uncertainty = self._uncertainty(turn)
        rows, verdicts = [], []
        for k, task in enumerate(self.tasks):
            known = range(1, min(turn.gathered[k].level, LEVELS - 1) + 1) if self.settings.forgetting else ()
            levels = {level: self._evaluated(policy, task, level, self.settings.forgetting) for level in known}
            levels[LEVELS] = tested[k]
            if turn.round == 0:
                turn.states[k] = turn.states[k].model_copy(update={"initial": tested[k].success})
            guards, verdict = turn.states[k].guards.check(self._seen(turn, k, tested[k], levels))
            turn.states[k] = turn.states[k].model_copy(update={"guards": guards})
            turn.decisions[k] += verdict.decisions
            verdicts.append(verdict)
            if turn.round:
                self._next(turn, k, levels, uncertainty)
            seconds = {"train": turn.train_seconds, "evaluate": time.perf_counter() - began}
            rows.append(self._row(turn, k, task, tested[k], {level: found.success for level, found in levels.items()}, seconds))
        back, retrain = self._remedied(turn, verdicts)
        for k, begun in enumerate(rows):
            alarms = tuple(map(str, verdicts[k].alarms))
            row = begun.model_copy(update={"alarms": alarms, "decisions": tuple(decision.said for decision in turn.decisions[k])})
            append_row(self.folder, row)
            self.journal.add(turn.decisions[k])
            self._dashboard.round(row)
        self.state = State(
            round=turn.round, policy=turn.round if back is None else back, population=turn.population, retrain=retrain,
            tasks=tuple(turn.states),
            kept=self.state.kept + (0 if turn.data_faults else sum(len(found.kept) for found in turn.gathered)),
            alarms=(*self.state.alarms, *(f"round {turn.round}, {alarm}" for v in verdicts for alarm in v.alarms)),
        )  # fmt: skip
        self.state.save(self.folder / STATE)
        self._page()

    def _tried(self, turn: Turn, trials: int) -> list[Evaluation]:
        """The leader on every task's suite. In a population all are tried from the same starts; the best leads from now on."""
        found: dict[int, list[Evaluation]] = {}
        for member, schooled in zip(turn.population.members, turn.schooled, strict=True):
            found[member.number] = []
            for task in self.tasks:
                self._dashboard.stage(task.name, "evaluating")
                found[member.number].append(self._evaluated(schooled.policy, task, LEVELS, trials))
        if len(found) > 1:
            counts = {number: _sum(map(_count, evaluations)) for number, evaluations in found.items()}
            turn.population, copies, decided = turn.population.after(turn.round, counts)
            for number, best in copies.items():
                turn.schooled[number] = replace(turn.schooled[number], policy=turn.schooled[best].policy.copy())
                turn.schooled[number].policy.save(self._checkpoint(turn.round, number))
            for told in turn.decisions:
                told.extend(decided)
        return found[turn.population.leader]

    def _next(self, turn: Turn, k: int, levels: dict[int, Evaluation], uncertainty: float) -> None:
        """What a task's next round is like: its level, and what it asks of the forge."""
        task, found = self.tasks[k], turn.gathered[k]
        success = found.success(clean=True)
        if success is None and found.level in levels:  # nothing was explored
            success = levels[found.level].success.value
        if success is not None:
            turn.states[k], said = turn.states[k].scheduled(turn.round, success, uncertainty, task.name)
            turn.decisions[k] += said
        if found.episodes and turn.round < self.settings.rounds:
            self._dashboard.stage(task.name, "asking the forge")
            scenarios = self._gatherer.scenarios(task, turn.states[k])
            turn.states[k], said = grow(self.store, task, turn.states[k], scenarios, turn.round, self.settings, self._budget)
            turn.decisions[k] += said

    def _seen(self, turn: Turn, k: int, tested: Evaluation, levels: dict[int, Evaluation]) -> Observed:
        """A round as the guards of a task see it."""
        found = turn.gathered[k]
        clean = [episode.success for episode in found.clean]
        level = LEVELS if self.settings.curriculum == "none" else found.level  # that of the rounds to come, not of the cold start
        view = View(self.replay, 1)
        moments = view.batch(generator(self._seed, "guards", turn.round), PROBES).features.numpy()
        return Observed(
            round=turn.round, level=level, collected=len(found.tried), kept=len(found.kept), held_out=_count(tested),
            rollout=(sum(clean), len(clean)) if clean else None, levels={level: _count(e) for level, e in levels.items()},
            loss=turn.leader.loss, mode=turn.leader.mode, faults=turn.data_faults,
            policy_fault=turn.policy_fault or policy_fault(turn.leader.policy, moments, view.statistics().action_std),
        )  # fmt: skip

    def _remedied(self, turn: Turn, verdicts: Sequence[Verdict]) -> tuple[int | None, bool]:
        """Carry out what the guards want; gives the round to go back to, and whether to train anew next time."""
        back: list[int] = []
        retrain = False
        for k, (task, verdict) in enumerate(zip(self.tasks, verdicts, strict=True)):
            reason = "; ".join(map(str, verdict.alarms))
            for remedy in verdict.remedies:
                match remedy:
                    case DropData(round=round):
                        self.replay.rewind(round)
                    case LowerThresholds():
                        thresholds, said = turn.states[k].thresholds.lowered(turn.round, reason, task=task.name)
                        turn.states[k] = turn.states[k].model_copy(update={"thresholds": thresholds})
                        turn.decisions[k].append(said)
                    case RollBack(round=round, level=level):
                        back.append(round)
                        turn.states[k], told = turn.states[k].moved(turn.round, level, reason, task.name)
                        turn.decisions[k] += told
                    case Retrain():
                        retrain = True
                    case SmallerRate():
                        pass  # the guards keep the rate themselves
        return min(back, default=None), retrain

    def _row(
        self, turn: Turn, k: int, task: Task, tested: Evaluation, levels: dict[int, Interval], seconds: dict[str, float]
    ) -> RoundRow:
        found = turn.gathered[k]
        kept = [worth.value for _, worth in found.kept]
        films = clips(self.folder / PAGE_FOLDER, turn.round, k, found) if self.settings.videos else ()
        return RoundRow(
            round=turn.round, task=task.name, success=tested.success, trials=len(tested.trials),
            rollout_success=found.success(), level=found.level, collected=len(found.episodes), kept=len(kept),
            stored=len(self.replay), quality=sum(kept) / len(kept) if kept else None, quality_threshold=found.quality_threshold,
            efficiency_threshold=found.efficiency_threshold, failures=found.failures.classes, forgetting=levels,
            loss=turn.leader.loss, lr=turn.leader.lr, mode=turn.leader.mode,
            seconds={**found.seconds, **seconds}, clips=films,
        )  # fmt: skip

    # ------------------------------------------------------------------ parts

    def _evaluated(self, policy: Policy, task: Task, level: int, trials: int) -> Evaluation:
        part = _part(task.suite.at(level), trials)
        scenarios = {entry.scenario.id: entry.scenario for entry in part.entries}

        def kind(recording: Recording) -> str | None:
            failed = classify(recording, scenarios[recording.scenario_id])
            return None if failed is None else failed.kind

        return evaluate(policy, part, threads=self._threads, classify=kind)

    def _uncertainty(self, turn: Turn) -> float:
        """How far the actions of the population's members lie apart at moments of the replay; of one alone, those of this round's
        policy and of the last one's."""
        policies = [schooled.policy for schooled in turn.schooled]
        if len(policies) == 1:
            policies.append(turn.acted[0] if turn.acted else policies[0])
        view = View(self.replay, 1)
        features = view.batch(generator(self._seed, "uncertainty", turn.round), PROBES).features.numpy()
        return spread(np.stack([policy.predict(features) for policy in policies]), view.statistics().action_std)

    def _page(self) -> None:
        title = "; ".join(task.name for task in self.tasks)
        emphasis = {task.name: state.emphasis for task, state in zip(self.tasks, self.state.tasks, strict=True)}
        show(
            self.folder / PAGE_FOLDER, read_rows(self.folder), title, self._seed, self.settings, outcomes_of(self.store), emphasis
        )

    def _say(self, what: str) -> None:
        for task in self.tasks:
            self._dashboard.stage(task.name, what)

    def _checkpoint(self, round: int, member: int = 0) -> Path:
        return self.folder / "policies" / (f"{round:04d}" if member == 0 else f"{round:04d}-{member}")

    def _member_seed(self, member: int) -> int:
        """What a member of the population draws its weights and batches from; the first one draws as one alone does."""
        return self._seed if member == 0 else derive(self._seed, "member", member) % 2**31

    def _result(self) -> dict[str, Any]:
        """The final evaluation, and what became of everything."""
        at, policies, fault = self._acting(self.state.round + 1)
        late = () if fault is None else (f"round {self.state.round}, damaged_policy: {fault}",)
        policy = policies[self.state.population.leader]
        tasks: dict[str, dict[str, Any]] = {}
        for task, state in zip(self.tasks, self.state.tasks, strict=True):
            self._dashboard.stage(task.name, "the final evaluation")
            final = self._evaluated(policy, task, LEVELS, self.settings.final_evaluations)
            lowest = self._evaluated(policy, task, 1, self.settings.final_evaluations).success
            earlier = [row.forgetting[1].value for row in read_rows(self.folder) if row.task == task.name and 1 in row.forgetting]
            shown = {
                "initial_success": state.initial, "final_success": final.success, "level1_success": lowest,
                "demonstrator_success": state.demonstrator,
            }  # fmt: skip
            tasks[task.name] = {
                **{name: None if value is None else value.model_dump() for name, value in shown.items()},
                "level1_best": max(earlier, default=None), "final_level": state.level, "failures": final.failures,
                "suite": task.suite.id, "trials": len(final.trials),
            }  # fmt: skip
        return {
            "rounds": self.state.round,
            "initial_success": _mean(tasks, "initial_success"),
            "final_success": _mean(tasks, "final_success"),
            "final_level": min(state.level for state in self.state.tasks),
            "level1_success": _mean(tasks, "level1_success"),
            "kept": self.state.kept,
            "alarms": [*self.state.alarms, *late],
            "tasks": tasks,
            "policy": str(self._checkpoint(at, self.state.population.leader)),
        }


def _count(tested: Evaluation) -> tuple[int, int]:
    return sum(trial.success for trial in tested.trials), len(tested.trials)


def _sum(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    given = list(counts)
    return sum(successes for successes, _ in given), sum(trials for _, trials in given)


def _mean(tasks: dict[str, dict[str, Any]], key: str) -> float | None:
    values = [entry[key]["value"] for entry in tasks.values() if entry[key] is not None]
    return sum(values) / len(values) if values else None


def _part(suite: Suite, trials: int) -> Suite:
    """The first starts of every entry of a suite, about `trials` in all."""
    each = max(1, -(-trials // len(suite.entries)))
    entries = tuple(entry.model_copy(update={"attempts": entry.attempts[:each]}) for entry in suite.entries)
    return suite.model_copy(update={"entries": entries})
