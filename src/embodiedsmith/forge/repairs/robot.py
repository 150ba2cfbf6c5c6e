"""Edits of the robot: where its base is, and which robot it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.forge.layout import base_poses
from embodiedsmith.forge.repairs.view import Proposed, View
from embodiedsmith.spec import ChangeEmbodiment, Finding, MoveBase

CANDIDATES = 3


def move_base(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """The base where it reaches more of what the task needs."""
    if not view.roots:
        return
    for pose in base_poses(view.scenario, view.assets, rng, CANDIDATES):
        if pose != view.scenario.embodiment.base:
            x, y, _ = pose.position
            yield (MoveBase(pose=pose),), f"put the robot at ({x:.2f}, {y:.2f}) m"


def change(view: View, findings: tuple[Finding, ...], rng: np.random.Generator) -> Iterator[Proposed]:
    """Another robot, those that drive first: they reach more."""
    if view.case.asked.embodiment is not None:
        return
    others = [embodiments.get(name) for name in embodiments.names(imported=False) if name != view.scenario.embodiment.name]
    for robot in sorted(others, key=lambda r: (r.base.kind != "planar", r.name)):
        yield (ChangeEmbodiment(name=robot.name),), f"let {robot.name} do it"
