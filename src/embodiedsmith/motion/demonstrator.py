"""From a goal to a demonstration: plan the steps, do them, look again after a failure, and keep everything recorded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from embodiedsmith.motion import symbolic
from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError
from embodiedsmith.motion.operators import Step
from embodiedsmith.motion.pushing import Pushing
from embodiedsmith.motion.skills import skills
from embodiedsmith.motion.wishes import steadied
from embodiedsmith.spec import Sequence, split_reference
from embodiedsmith.tasks.goal import title
from embodiedsmith.tasks.recording import Failure, Recording
from embodiedsmith.tasks.session import Session
from embodiedsmith.world import WorldFault

REPLANS = 2
FINAL = ("goal.timeout", "reorient.dropped")
"""Failures after which nothing is left to plan: time is up, or what lay in the hand no longer does."""
REST = 40  # control steps to wait for the goal to hold at rest


def demonstrate(
    session: Session,
    rng: np.random.Generator,
    pushing: Pushing | None = None,
    beside: Mapping[str, ArrayLike] | None = None,
) -> Recording:
    """Reset the session with `rng` and do its task. Never raises for a failed attempt: the recording says what failed.

    Args:
        session: A session; it is reset here.
        rng: The attempt's generator: first the reset's draws, then the planners'.
        pushing: What leads the arms astray now and then; None: nothing.
        beside: How far [m] from its true place it takes some things to be, each in its own frame, shape (3,); see `mistaken`.

    Raises:
        SettleError: the scene does not come to rest, so that there is nothing to attempt.
    """
    started = time.perf_counter()
    session.reset(rng)
    seconds = time.perf_counter() - started
    recording = complete(session, rng, pushing, beside)
    return replace(recording, cost={"reset_seconds": seconds, **recording.cost})


def complete(
    session: Session,
    rng: np.random.Generator,
    pushing: Pushing | None = None,
    beside: Mapping[str, ArrayLike] | None = None,
) -> Recording:
    """Do what is left of the session's task from where its attempt has come, whoever acted before; else as `demonstrate`.

    Args:
        session: A session with an attempt in progress, in a world that is well; it is finished here.
        rng: The attempt's generator, for the planners' draws.
        pushing: As for `demonstrate`.
        beside: As for `demonstrate`.
    """
    started = time.perf_counter()
    control = Controller(session, rng, pushing, beside)
    failure: Failure | None = None
    with suppress(WorldFault):  # the session holds it
        failure = _pursue(control)
    cost = {
        "run_seconds": time.perf_counter() - started,
        "plans": float(control.plans),
        "collision_checks": float(control.checker.checks),
    }
    return session.finish(failure, cost)


def _pursue(control: Controller) -> Failure | None:
    session, goal = control.session, control.world.scenario.task.goal
    failure: Failure | None = None
    for attempt in range(REPLANS + 1):
        control.feel()
        try:
            loads = [load.item for load in control.loads if load is not None]
            held = next((item for item in loads if item not in steadied(goal)), None)
            reached = session.monitor.stages[-1] if isinstance(goal, Sequence) else 0  # what is in a sequence comes before it
            steps = symbolic.plan(control.world, goal, held, reached=reached)
        except MotionError as error:
            return error.failure(step=session.steps)
        if attempt:
            session.note("replanned", text="; ".join(map(str, steps)))
        before = session.steps
        failure = _run(control, steps)
        if failure is None:
            failure = _rest(control)
            if failure is None:
                return None
        if failure.code in FINAL or session.steps == before:  # planning again from the same place is no use
            return failure
    return failure


def _run(control: Controller, steps: tuple[Step, ...]) -> Failure | None:
    session = control.session
    queue = list(steps)
    while queue:
        step = queue.pop(0)
        control.label, control.stage, control.ahead = str(step), step.stage, tuple(queue)
        session.note("skill_started", step.args, str(step))
        control.relax()
        try:
            skills()[step.skill].run(control, step.args, control.ahead)
        except MotionError as error:
            session.note("skill_failed", step.args, f"{error.code}: {error.what}")
            failure = error.failure(skill=str(step), step=session.steps)
            return replace(failure, subjects=_subjects(control, step, failure.subjects))
        session.note("skill_done", step.args, str(step))
        queue[:0], control.inserted = control.inserted, ()
        if control.served is not None:  # the rest of what is to be done here needs another place to stand
            queue.insert(control.served, step)
            control.served = None
    return None


def _subjects(control: Controller, step: Step, named: tuple[str, ...]) -> tuple[str, ...]:
    """What a failed step handles, then what else the failure names, things of the scene only."""
    return tuple(dict.fromkeys(n for n in (step.args[0], *named) if split_reference(n)[0] in control.world.items))


def _rest(control: Controller) -> Failure | None:
    """Stand still until the goal has held long enough; the session's own verdict decides."""
    control.label = "rest"
    try:
        for _ in range(REST):
            if control.session.succeeded:
                return None
            control.step()
    except MotionError as error:
        return error.failure(step=control.session.steps)
    monitor, margin = control.session.monitor, control.session.margin
    margins = dict(zip(monitor.predicate_names, monitor.predicate_margins, strict=True))
    missed = min(control.stages(control.stage)[0], key=lambda p: float(margins[title(p)]))
    return Failure(
        code="goal.not_reached", step=control.session.steps, subjects=missed.args, value=margin, limit=0.0,
        message=f"every step was done, but the goal does not hold: its margin is {margin:.4g}, lowest is {title(missed)}",
    )  # fmt: skip
