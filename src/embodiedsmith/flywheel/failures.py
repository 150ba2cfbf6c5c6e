"""Why an attempt failed, as a class: from what was recorded of it, whoever acted.

The recording's own code decides where it says enough: a bad world, or a demonstrator that could not plan. Otherwise the first
thing that the goal still asks for at the end is looked at: what became of it (the events of the hands), whether the hand came to
it, and whether what it goes into was opened.

| class | when |
|---|---|
| `missed_grasp` | the hand closed at the thing and never held it |
| `slip` | it was held and lost while the hand was not opening |
| `collision` | the robot hit furniture, or knocked the thing away, before it came to anything else |
| `wrong_object` | another thing was taken and the right one was not |
| `not_released` | it was at its place in the end, still in the hand |
| `misplaced` | it was let go where the goal does not hold |
| `not_opened` | the door or drawer that the goal opens, or puts something behind, stayed shut |
| `not_closed` | what was to be shut in the end was not |
| `timeout` | none of these: time was over |
| `unplanned` | a demonstrator found no way |
| `world_fault` | the world went bad |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from embodiedsmith import assets, embodiments
from embodiedsmith.assets.asset import Asset
from embodiedsmith.learn.stages import Stages
from embodiedsmith.spec import AssetSpec, Predicate, Scenario, split_reference
from embodiedsmith.tasks.goal import title
from embodiedsmith.tasks.recording import Event, Float, Recording
from embodiedsmith.world import transforms as tf

FailureClass = Literal[
    "missed_grasp", "slip", "collision", "wrong_object", "not_released", "misplaced", "not_opened", "not_closed", "timeout",
    "unplanned", "world_fault",
]  # fmt: skip
CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)

CLOSED = 0.5
"""Commanded closing from which a hand counts as closing on something."""
AT_HAND = 0.03
"""[m] from the tool centre point to a thing's box, at which the hand is at it."""
AT_PLACE = 0.06
"""[m or rad] Margin missed by no more than this by something still in the hand: it only has to be let go."""
KNOCKED = 0.03
"""[m] by which a thing never held has been moved if it was knocked away."""
JOLT = 10
"""Control steps after a collision within which a loss is due to it."""
OPENED = 0.3
"""Fraction of a joint's range from which it was opened."""
_JOINT = frozenset({"open", "closed", "turned"})
_IN_HAND = frozenset({"grasped", "lifted", "in_left_hand", "in_right_hand", "in_both_hands", "squeezed"})
_CODES: dict[str, FailureClass] = {
    "missed": "missed_grasp", "slipped": "slip", "empty_hand": "slip", "ajar": "not_closed", "unreachable": "unplanned",
    "blocked": "unplanned", "no_grasp": "unplanned", "dead_end": "unplanned", "stuck": "unplanned", "no_spot": "unplanned",
    "no_room": "unplanned", "in_the_way": "unplanned", "no_symbolic_plan": "unplanned", "unsupported": "unplanned",
    "contradictory": "unplanned", "no_standing_place": "unplanned", "detour": "unplanned", "timing": "unplanned",
    "no_arm": "unplanned", "no_rim": "unplanned", "hand_full": "unplanned",
}  # fmt: skip
"""What demonstrators say, by the part of the code after the stage."""


@dataclass(frozen=True, kw_only=True)
class Classified:
    """Why an attempt failed."""

    kind: FailureClass
    subject: str = ""
    """The item or part that it failed with; empty when none can be named."""
    reason: str


@dataclass(frozen=True)
class Tally:
    """What a round's attempts came to, by scenario: what `FailureEmphasis` and requests to the forge look at."""

    attempts: dict[str, int] = field(default_factory=dict)
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    """Scenario id to class to count."""

    @property
    def classes(self) -> dict[str, int]:
        """Class to count over all scenarios, most frequent first."""
        total: Counter[str] = Counter()
        for kinds in self.failures.values():
            total.update(kinds)
        return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))


def tally(results: Iterable[tuple[str, Classified | None]]) -> Tally:
    """Count attempts, scenario id and why it failed (None: it did not)."""
    attempts: Counter[str] = Counter()
    failures: dict[str, Counter[str]] = {}
    for scenario, failed in results:
        attempts[scenario] += 1
        if failed is not None:
            failures.setdefault(scenario, Counter())[failed.kind] += 1
    return Tally(dict(attempts), {name: dict(sorted(counts.items())) for name, counts in failures.items()})


def classify(recording: Recording, scenario: Scenario) -> Classified | None:
    """Why an attempt at the scenario failed; None: it succeeded."""
    failure = recording.failure
    if recording.outcome == "success" or failure is None:
        return None
    stage, _, why = failure.code.partition(".")
    if stage in ("world", "worker"):
        return Classified(kind="world_fault", reason=f"{failure.code}: {failure.message}")
    subject = failure.subjects[0] if failure.subjects else ""
    if stage == "open" and why in ("slipped", "missed", "effect"):
        return Classified(kind="not_opened", subject=subject, reason=failure.message)
    if stage != "goal" and why in _CODES:
        return Classified(kind=_CODES[why], subject=subject, reason=failure.message)
    return _Attempt(recording, scenario).verdict()


class _Attempt:
    """A failed attempt, looked at through what the goal still asked for."""

    def __init__(self, recording: Recording, scenario: Scenario) -> None:
        self.recording, self.scenario = recording, scenario
        self.items = {item.id: item for item in scenario.scene.items}
        self.open = self._open_predicates()

    def verdict(self) -> Classified:
        """The class of the failure."""
        if not self.open:
            return Classified(kind="timeout", reason="the goal holds at the end, but not for long enough at rest")
        missed = self.open[0]
        item = split_reference(missed.args[0])[0] if missed.args else ""
        if missed.name in _JOINT:
            kind: FailureClass = "not_closed" if missed.name == "closed" else "not_opened"
            return Classified(kind=kind, subject=missed.args[0], reason=f"{title(missed)} does not hold at the end")
        if item not in self.items or self.items[item].fixed:
            return Classified(kind="timeout", subject=item, reason=f"{title(missed)} does not hold at the end")
        return self._with(item, missed)

    def _with(self, item: str, missed: Predicate) -> Classified:
        """What became of the thing that should have been handled."""
        handled = [e for e in self.recording.events if e.kind in ("grasped", "released", "dropped") and item in e.subjects]
        last = handled[-1] if handled else None
        if last is not None and last.kind == "dropped":
            hit = [e for e in self._collisions() if last.step - JOLT <= e.step <= last.step]
            if hit:
                return self._said(
                    "collision", item, f"{item} was lost at step {last.step}, after a blow against {hit[-1].subjects[-1]}"
                )
            return self._said("slip", item, f"{item} was lost at step {last.step}, the hand not opening")
        shut = self._shut(missed)
        if last is not None and last.kind == "grasped":
            if missed.name not in _IN_HAND and self._margin(missed) >= -AT_PLACE:
                return self._said("not_released", item, f"{item} is at its place, still in the hand")
            if shut is not None:
                return self._said("not_opened", shut, f"{shut} was shut, {item} in the hand")
            return self._said("timeout", item, f"{item} is still in the hand, away from where it goes")
        if last is not None:
            return self._said("misplaced", item, f"{item} was let go at step {last.step} where {title(missed)} does not hold")
        return self._never_held(item, shut)

    def _never_held(self, item: str, shut: str | None) -> Classified:
        taken = [e for e in self.recording.events if e.kind == "grasped" and item not in e.subjects]
        done = {split_reference(p.args[0])[0] for p in self._asked() if p.args} - {
            split_reference(p.args[0])[0] for p in self.open
        }
        wrong = [e for e in taken if e.subjects[0] not in done]
        closed, hit = self._closed_at(item), self._collisions()
        first: list[tuple[int, Classified]] = []  # what came first is the cause: what follows is flailing
        if closed is not None:
            first.append(
                (closed, self._said("missed_grasp", item, f"the hand closed at {item} at step {closed} and did not hold it"))
            )
        if wrong:
            other = wrong[0].subjects[0]
            first.append((wrong[0].step, self._said("wrong_object", other, f"{other} was taken, {item} was not")))
        if shut is not None and not first:
            return self._said("not_opened", shut, f"{shut} stayed shut and {item} was never held")
        if hit:
            what = f"the robot hit {hit[0].subjects[-1]} at step {hit[0].step}; {item} was never held"
            first.append((hit[0].step, self._said("collision", item, what)))
        if first:
            return min(first, key=lambda pair: pair[0])[1]
        moved = self._moved(item)
        if moved > KNOCKED:
            return self._said("collision", item, f"{item} was knocked away by {100 * moved:.0f} cm before the hand closed")
        return self._said("timeout", item, f"the hand never closed at {item}")

    def _said(self, kind: FailureClass, subject: str, reason: str) -> Classified:
        return Classified(kind=kind, subject=subject, reason=reason)

    # ------------------------------------------------------------------ what the recording tells

    def _asked(self) -> list[Predicate]:
        """What the stage reached last asks for, in order."""
        stages = Stages(self.scenario.task)
        return [p for p, _ in stages.asked[int(stages.along(self.recording)[-1])]]

    def _open_predicates(self) -> list[Predicate]:
        """Those of them that do not hold at the end."""
        stages = Stages(self.scenario.task)
        last = dict(zip(self.recording.predicate_names, self.recording.predicate_margins[-1].tolist(), strict=True))
        asked = stages.asked[int(stages.along(self.recording)[-1])]
        return [p for p, negated in asked if (last[title(p)] > 0) == negated]

    def _margin(self, missed: Predicate) -> float:
        column = self.recording.predicate_names.index(title(missed))
        return float(self.recording.predicate_margins[-1, column])

    def _collisions(self) -> list[Event]:
        return [e for e in self.recording.events if e.kind == "collision"]

    def _shut(self, missed: Predicate) -> str | None:
        """The door or drawer behind which the predicate puts something, when it was never opened."""
        for reference in missed.args[1:]:
            name, part = split_reference(reference)
            asset = _asset(self.items[name].asset.to_json())
            meant = [c for c in asset.affordances.cavities if part in (None, c.name)]
            if missed.name != "inside" or not meant or any(c.joint is None for c in meant):
                continue
            joints = [c.joint for c in meant if c.joint is not None]
            if max(self._opening(name, asset, joint) for joint in joints) < OPENED:
                return f"{name}.{joints[0]}"
        return None

    def _opening(self, item: str, asset: Asset, joint: str) -> float:
        """How far a joint was open at most, 0 closed to 1."""
        info = asset.joints[joint]
        position = self.recording.observations[f"joints/{item}.{joint}"]
        return float(((position - info.closed) / (info.open - info.closed)).max())

    def _closed_at(self, item: str) -> int | None:
        """The first control step at which a hand was closing with the thing between or before its fingers; None: never."""
        robot = embodiments.get(self.scenario.embodiment.name)
        low, high = (np.asarray(c) for c in _asset(self.items[item].asset.to_json()).extents)
        pose = self.recording.observations[f"items/{item}"][:-1]
        at, found = self.recording.actions.shape[1] - sum(arm.gripper.size for arm in robot.arms), []
        for k, arm in enumerate(robot.arms):
            commands = self.recording.actions[:, at : at + arm.gripper.size]
            closing = np.array([arm.gripper.closing(row) for row in commands.tolist()]) > CLOSED
            at += arm.gripper.size
            tool = self.recording.observations[f"tcp_pose{f'_{k}' if k else ''}"][:-1, :3]
            near = _distance(tool, pose, low, high) < AT_HAND
            found += np.flatnonzero(closing & near)[:1].tolist()
        return min(found, default=None)

    def _moved(self, item: str) -> float:
        """How far a thing is from where it was [m]."""
        position = self.recording.observations[f"items/{item}"][:, :3]
        return float(np.linalg.norm(position[-1] - position[0]))


def _distance(points: Float, poses: Float, low: Float, high: Float) -> Float:
    """Distance [m] of points (n, 3) from a box with those corners in frames (n, 7) of position and quaternion, shape (n,)."""
    local = np.stack([(p - pose[:3]) @ tf.compose(pose[:3], pose[3:])[:3, :3] for p, pose in zip(points, poses, strict=True)])
    outside: Float = np.linalg.norm(np.maximum(np.maximum(low - local, local - high), 0.0), axis=1)
    return outside


@lru_cache(maxsize=128)
def _asset(spec_json: str) -> Asset:
    return assets.build(AssetSpec.from_json(spec_json))
