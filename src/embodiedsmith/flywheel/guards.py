"""What can go wrong with a flywheel that nobody watches, and what it then does about it by itself.

Remedies go one step further each round that an alarm goes on.

- `stall`: next to nothing was kept for some rounds. Lower thresholds; roll back policy and level; smaller rate.
- `collapse`: success fell to half of what it was, beyond doubt. Roll back; roll back and smaller rate.
- `level_jump`: the level rose by more than one. Roll back.
- `forgetting`: an earlier level's success is below its best by more than is allowed, beyond doubt. Train anew on everything that
  was kept; roll back; smaller rate.
- `corrupted_data`: rows are not finite or out of range, or the loss jumped. Drop the round's data and roll back.
- `damaged_policy`: a checkpoint is refused, or the policy says the same whatever it sees. Roll back.

A guard only decides; the loop carries out. Remedies are values, and so is the guard: `check` gives the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from embodiedsmith.evaluate.intervals import newcombe
from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.learn.checkpoint import CheckpointError
from embodiedsmith.learn.policy import Policy
from embodiedsmith.spec import Noun

PART = "guards"
AlarmKind = Literal["stall", "collapse", "level_jump", "forgetting", "corrupted_data", "damaged_policy"]
Count = tuple[int, int]
"""Successes and trials."""


class GuardConfig(Noun):
    """When alarms go off."""

    least_kept: int = Field(default=4, ge=0)
    """A round that keeps fewer than this keeps next to nothing."""
    stall_rounds: int = Field(default=2, ge=1)
    """Such rounds in a row that are a stall."""
    collapse: float = Field(default=0.5, gt=0.0, lt=1.0)
    """Part of the best recent success below which it has collapsed."""
    recent: int = Field(default=5, ge=1)
    """Rounds that count as recent."""
    forgetting: float = Field(default=0.05, ge=0.0, le=1.0)
    """By how much an earlier level's success may be below its best."""
    loss_jump: float = Field(default=3.0, gt=1.0)
    """Times the median loss of recent rounds that a loss jumped."""
    smaller: float = Field(default=0.5, gt=0.0, lt=1.0)
    """What the learning rate is multiplied by."""
    smallest: float = Field(default=0.1, gt=0.0, le=1.0)
    """Part of the learning rate that is left at least."""
    quiet: int = Field(default=3, ge=1)
    """Rounds without an alarm after which the rate grows again."""
    largest_feature: float = Field(default=20.0, gt=0.0)
    """[SI units] Features beyond this are out of range: of demonstrations of four tasks none was beyond 3.2."""
    action_ranges: float = Field(default=3.0, gt=0.0)
    """Ranges of the actions kept so far by which an action may lie outside that range."""
    least_range: float = Field(default=0.25, gt=0.0)
    """[SI units a step] What a narrower range counts as: a component that easy tasks hardly use is used by others."""


class Alarm(Noun):
    """Something went wrong."""

    kind: AlarmKind
    round: int
    reason: str
    numbers: dict[str, float] = Field(default_factory=dict)
    task: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


class LowerThresholds(Noun):
    """Let more episodes through: `Thresholds.lowered`."""

    kind: Literal["lower_thresholds"] = "lower_thresholds"


class RollBack(Noun):
    """Go on from the policy as it was after a round, at a level."""

    kind: Literal["roll_back"] = "roll_back"
    round: int = Field(ge=0)
    """After which the policy was good."""
    level: int = Field(ge=1)


class SmallerRate(Noun):
    """Train with that part of the learning rate."""

    kind: Literal["smaller_rate"] = "smaller_rate"
    rate: float = Field(gt=0.0, le=1.0)


class Retrain(Noun):
    """Train from scratch on everything that was kept, in the next round."""

    kind: Literal["retrain"] = "retrain"


class DropData(Noun):
    """Take back what a round put into the replay."""

    kind: Literal["drop_data"] = "drop_data"
    round: int = Field(ge=0)


Remedy = Annotated[LowerThresholds | RollBack | SmallerRate | Retrain | DropData, Field(discriminator="kind")]


class Observed(Noun):
    """What a round was, as guards see it."""

    round: int = Field(ge=0)
    level: int = Field(ge=1)
    """At which was collected."""
    collected: int = Field(default=0, ge=0)
    kept: int = Field(default=0, ge=0)
    held_out: Count | None = None
    """On the frozen suite, after the round's training."""
    rollout: Count | None = None
    """While collecting, without exploration: compared with rounds of the same level or harder ones."""
    levels: dict[int, Count] = Field(default_factory=dict)
    """Of the forgetting test, by level."""
    loss: float | None = None
    """At the end of the training."""
    mode: str = ""
    """How was trained: losses are compared with those of the same mode."""
    faults: tuple[str, ...] = ()
    """What is wrong with the round's data: see `data_faults`."""
    policy_fault: str | None = None
    """What is wrong with the policy: see `policy_fault` and `load_fault`."""


class Verdict(Noun):
    """What guards say to a round."""

    alarms: tuple[Alarm, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    """In the order in which they are carried out."""
    decisions: tuple[Decision, ...] = ()


class Guards(Noun):
    """The guards of one task, as a value."""

    config: GuardConfig = GuardConfig()
    task: str = ""
    history: tuple[Observed, ...] = ()
    """The recent rounds, those with alarms included."""
    sound: tuple[tuple[int, int], ...] = ()
    """Rounds without an alarm, to which one may go back, each with its level; the latest of them."""
    best: dict[int, Count] = Field(default_factory=dict)
    """Best success on each level so far."""
    raised: dict[AlarmKind, int] = Field(default_factory=dict)
    """Kind of alarm to how many rounds in a row it has gone off."""
    rate: float = Field(default=1.0, gt=0.0, le=1.0)
    """Part of the learning rate that is used."""
    calm: int = 0
    """Rounds in a row without an alarm."""

    def check(self, seen: Observed) -> tuple[Self, Verdict]:
        """After a round."""
        alarms = tuple(self._alarms(seen))
        raised = {alarm.kind: self.raised.get(alarm.kind, 0) + 1 for alarm in alarms}
        best = dict(self.best)
        for level, count in seen.levels.items() if not alarms else ():
            if level not in best or _rate(count) > _rate(best[level]):
                best[level] = count
        calm = 0 if alarms else self.calm + 1
        rate = self.rate
        if calm >= self.config.quiet and rate < 1.0:
            rate, calm = min(rate / self.config.smaller, 1.0), 0
        remedies = self._remedies(seen, raised)
        for remedy in remedies:
            if isinstance(remedy, SmallerRate):
                rate = remedy.rate
        most = 2 * self.config.recent
        sound = self.sound if alarms else (*self.sound, (seen.round, seen.level))[-most:]
        changed = {
            "history": (*self.history, seen)[-most:], "sound": sound, "best": best, "raised": raised, "rate": rate, "calm": calm,
        }  # fmt: skip
        decisions = tuple(self._decisions(seen, alarms, remedies, rate))
        return self.model_copy(update=changed), Verdict(alarms=alarms, remedies=remedies, decisions=decisions)

    def until(self, round: int) -> Self:
        """With no round after that one to go back to."""
        return self.model_copy(update={"sound": tuple(found for found in self.sound if found[0] <= round)})

    # ------------------------------------------------------------------ alarms

    def _alarms(self, seen: Observed) -> Iterable[Alarm]:
        if seen.policy_fault is not None:
            yield self._alarm(seen, "damaged_policy", seen.policy_fault)
        losses = [o.loss for o in self._recent() if o.loss is not None and o.mode == seen.mode]
        if seen.faults:
            yield self._alarm(seen, "corrupted_data", "; ".join(seen.faults[:3]), faults=len(seen.faults))
        elif seen.loss is not None and losses and seen.loss > self.config.loss_jump * median(losses):
            reason = f"the loss jumped to {seen.loss:.3g}, {seen.loss / median(losses):.1f} times that of the rounds before"
            yield self._alarm(seen, "corrupted_data", reason, loss=seen.loss, before=median(losses))
        before = self.history[-1].level if self.history else seen.level
        if seen.level > before + 1:
            yield self._alarm(
                seen, "level_jump", f"the level rose from {before} to {seen.level} at once", before=before, after=seen.level
            )
        yield from self._collapse(seen)
        yield from self._forgetting(seen)
        yield from self._stall(seen)

    def _stall(self, seen: Observed) -> Iterable[Alarm]:
        rounds = (*self.history, seen)[-self.config.stall_rounds :]
        little = [o for o in rounds if o.collected > 0 and o.kept < self.config.least_kept]
        if len(little) == self.config.stall_rounds:
            kept = ", ".join(str(o.kept) for o in rounds)
            yield self._alarm(seen, "stall", f"the last {len(rounds)} rounds kept {kept} episodes", kept=seen.kept)

    def _collapse(self, seen: Observed) -> Iterable[Alarm]:
        for what in ("held_out", "rollout"):
            now: Count | None = getattr(seen, what)
            alike = [o for o in self._recent() if what == "held_out" or o.level >= seen.level]
            earlier: list[Count] = [c for o in alike if (c := getattr(o, what)) is not None]
            if now is None or not earlier:
                continue
            top = max(earlier, key=_rate)
            if _rate(now) < self.config.collapse * _rate(top) and newcombe(now, top).high < 0:
                name = {"held_out": "held-out success", "rollout": "success while collecting"}[what]
                reason = f"{name} fell from {_rate(top):.2f} to {_rate(now):.2f}"
                yield self._alarm(seen, "collapse", reason, before=_rate(top), after=_rate(now))
                return

    def _forgetting(self, seen: Observed) -> Iterable[Alarm]:
        worst: tuple[float, int] | None = None
        for level, now in seen.levels.items():
            top = self.best.get(level)
            if top is None:
                continue
            lost = newcombe(top, now)
            if lost.low > self.config.forgetting and (worst is None or lost.value > worst[0]):
                worst = lost.value, level
        if worst is not None:
            level = worst[1]
            reason = f"success on level {level} fell from {_rate(self.best[level]):.2f} to {_rate(seen.levels[level]):.2f}"
            yield self._alarm(seen, "forgetting", reason, level=level, lost=worst[0])

    def _recent(self) -> Sequence[Observed]:
        """The latest rounds without an alarm."""
        good = {round for round, _ in self.sound}
        return [o for o in self.history if o.round in good][-self.config.recent :]

    def _alarm(self, seen: Observed, kind: AlarmKind, reason: str, **numbers: float) -> Alarm:
        return Alarm(kind=kind, round=seen.round, reason=reason, numbers=numbers, task=self.task)

    # ------------------------------------------------------------------ remedies

    def _remedies(self, seen: Observed, raised: Mapping[AlarmKind, int]) -> tuple[Remedy, ...]:
        """What is to be done, each thing once: data is dropped first, then thresholds, policy and level, rate."""
        back = self._roll_back(seen, lower="collapse" in raised)
        smaller = SmallerRate(rate=max(self.rate * self.config.smaller, self.config.smallest))
        wanted: list[Remedy] = []
        for kind, times in raised.items():
            match kind:
                case "stall":
                    wanted += ([LowerThresholds()], [back], [smaller])[min(times, 3) - 1]
                case "collapse":
                    wanted += [back] if times == 1 else [back, smaller]
                case "forgetting":
                    wanted += ([Retrain()], [back], [smaller])[min(times, 3) - 1]
                case "corrupted_data":
                    wanted += [DropData(round=seen.round), back]
                case _:
                    wanted.append(back)
        order = ("drop_data", "lower_thresholds", "roll_back", "smaller_rate", "retrain")
        return tuple(sorted({r.kind: r for r in wanted}.values(), key=lambda r: order.index(r.kind)))

    def _roll_back(self, seen: Observed, *, lower: bool) -> RollBack:
        """To the latest sound round, at its level, or one lower after a collapse."""
        good, level = self.sound[-1] if self.sound else (0, 1)
        return RollBack(round=good, level=min(level, max(seen.level - 1, 1)) if lower else level)

    def _decisions(self, seen: Observed, alarms: Sequence[Alarm], remedies: Sequence[Remedy], rate: float) -> Iterable[Decision]:
        for alarm in alarms:
            yield Decision(
                round=seen.round, part=PART, what="alarm", after=alarm.kind, reason=alarm.reason, numbers=dict(alarm.numbers),
                task=self.task,
            )  # fmt: skip
        why = "; ".join(alarm.reason for alarm in alarms)
        for remedy in remedies:
            what, before, after = _change(remedy, seen, self.rate)
            yield Decision(round=seen.round, part=PART, what=what, before=before, after=after, reason=why, task=self.task)
        if rate > self.rate:
            reason = f"no alarm for {self.config.quiet} rounds"
            yield Decision(round=seen.round, part=PART, what="rate", before=self.rate, after=rate, reason=reason, task=self.task)


def _change(remedy: Remedy, seen: Observed, rate: float) -> tuple[str, float | str | None, float | str | None]:
    match remedy:
        case LowerThresholds():
            return "thresholds", None, "lower"
        case RollBack():
            return "policy", f"round {seen.round}, level {seen.level}", f"round {remedy.round}, level {remedy.level}"
        case SmallerRate():
            return "rate", rate, remedy.rate
        case Retrain():
            return "training", None, "from scratch"
        case DropData():
            return "data", f"round {remedy.round}", "dropped"


def _rate(count: Count) -> float:
    return count[0] / count[1] if count[1] else 0.0


# ---------------------------------------------------------------------- looking at data and policies


class Rows(Protocol):
    """An encoded episode: features (T, F) and actions (T, A)."""

    @property
    def features(self) -> NDArray[np.float32]: ...

    @property
    def actions(self) -> NDArray[np.float32]: ...


def data_faults(
    episodes: Iterable[Rows],
    low: NDArray[np.float64] | None = None,
    high: NDArray[np.float64] | None = None,
    config: GuardConfig | None = None,
) -> tuple[str, ...]:
    """What is wrong with episodes before they are kept, one sentence each; nothing when all is well.

    Args:
        episodes: Of the round.
        low, high: Range of each action component in what was kept before, shape (A,); None: nothing was.
        config: Limits.
    """
    config = config or GuardConfig()
    faults: list[str] = []
    for number, episode in enumerate(episodes):
        seen, done = episode.features, episode.actions
        if not (np.isfinite(seen).all() and np.isfinite(done).all()):
            faults.append(f"episode {number} holds numbers that are not finite")
            continue
        largest = float(np.abs(seen).max(initial=0.0))
        if largest > config.largest_feature:
            faults.append(f"episode {number} has a feature of {largest:.3g}; at most {config.largest_feature:g} is sound")
        if low is not None and high is not None and len(done):
            room = config.action_ranges * np.maximum(high - low, config.least_range)
            beyond = np.maximum(low - room - done.min(axis=0), done.max(axis=0) - high - room)
            if beyond.max() > 0:
                worst = int(beyond.argmax())
                faults.append(
                    f"episode {number} has actions of component {worst} far outside {low[worst]:.3g} to {high[worst]:.3g}"
                )
    return tuple(faults)


class Says(Protocol):
    """What answers features (n, F) with chunks of actions (n, H, A)."""

    def predict(self, features: NDArray[np.float32]) -> NDArray[np.float32]: ...


def policy_fault(policy: Says, features: NDArray[np.float32], scale: NDArray[np.float64]) -> str | None:
    """What is wrong with what a policy says at moments of the replay; None: nothing.

    Args:
        policy: The policy.
        features: Different moments, shape (n, F).
        scale: Standard deviation of each action component in the replay, shape (A,).
    """
    said = policy.predict(features)
    if not np.isfinite(said).all():
        return "the policy says actions that are not finite"
    moving = scale > 1e-9
    vary = said.std(axis=0)[:, moving] / scale[moving]
    if vary.size and float(vary.max()) < 1e-3:
        return "the policy says the same actions whatever it sees"
    return None


def load_fault(folder: Path) -> tuple[Policy | None, str | None]:
    """The policy in a folder, or why its checkpoint is refused."""
    try:
        return Policy.load(folder), None
    except CheckpointError as error:
        return None, str(error)
