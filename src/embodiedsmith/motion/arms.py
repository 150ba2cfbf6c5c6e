"""Which of several arms does a thing: the first that can, nearest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from embodiedsmith.motion.controller import Controller
from embodiedsmith.motion.errors import MotionError

Plan = TypeVar("Plan")
_TELLING = ("no_grasp", "no_spot", "unreachable", "blocked", "dead_end")
"""Reasons for which an arm cannot, from those that say least to those that say most."""


def first_that_can(control: Controller, order: Iterable[int], plan: Callable[[], Plan]) -> Plan:
    """What `plan` gives for the first arm of `order` that has a plan; that arm is in use afterwards.

    Raises:
        MotionError: none has; the one that got farthest says why.
    """
    failures: list[tuple[int, MotionError]] = []
    for arm in order:
        control.use(arm)
        control.look()
        try:
            return plan()
        except MotionError as error:
            failures.append((arm, error))
    arm, worst = max(failures, key=lambda f: _rank(f[1]))  # of equals the first, which is the nearest
    control.use(arm)
    raise worst


def use_holder(control: Controller, item: str) -> None:
    """Use the arm that holds an item, if one does."""
    for arm, load in enumerate(control.loads):
        if load is not None and load.item == item:
            control.use(arm)
            return


def _rank(error: MotionError) -> int:
    reason = error.code.partition(".")[2]
    return _TELLING.index(reason) if reason in _TELLING else -1
