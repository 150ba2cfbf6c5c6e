"""What the robot can do. One file a skill, each with a module-level `SKILL`; found by listing this folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from embodiedsmith.motion.operators import Operator, Step
from embodiedsmith.runtime.errors import SmithError

if TYPE_CHECKING:
    from embodiedsmith.motion.controller import Controller


@dataclass(frozen=True, kw_only=True)
class Skill:
    """One skill: how the planner sees it, and how the robot does it."""

    name: str
    operators: tuple[Operator, ...]
    """Needs and effects as facts of `motion.operators.FACTS`; several when it applies in several ways."""
    run: Callable[[Controller, tuple[str, ...], tuple[Step, ...]], None]
    """Does it: the robot, the step's arguments, and the steps after it (a pick looks ahead to the place). Checks its effect;
    raises MotionError when it did not come about."""
    foresee: Callable[[Controller, tuple[str, ...]], None] | None = None
    """Plans it without doing it, with the checker looking at the world as it is; raises MotionError when there is no way. For
    skills that the critics of a scenario know nothing of."""


@lru_cache(maxsize=1)
def skills() -> dict[str, Skill]:
    """Every skill by name; raises SmithError when two files claim one name or a file has no `SKILL`."""
    found: dict[str, Skill] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        skill = getattr(loaded, "SKILL", None)
        if not isinstance(skill, Skill):
            raise SmithError(f"skill file '{module.name}.py' has no SKILL", remedy="define SKILL = Skill(...) in it")
        if skill.name in found:
            raise SmithError(f"two files define the skill '{skill.name}'", where=f"{module.name}.py")
        found[skill.name] = skill
    return found
