"""The catalogue of robots: one file each in `embodiments/catalogue/`, found by looking."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from embodiedsmith.embodiments import catalogue
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.embodiments.errors import EmbodimentError, UnknownRobot


def get(name: str) -> Robot:
    """The robot called `name`; raises `UnknownRobot` with near matches and the names there are."""
    robots = _catalogue()
    if name not in robots:
        raise UnknownRobot(name, tuple(robots))
    return robots[name]


def names() -> tuple[str, ...]:
    """Names of all robots, sorted."""
    return tuple(_catalogue())


@functools.cache
def _catalogue() -> dict[str, Robot]:
    return collect(
        {
            module.name: getattr(importlib.import_module(f"{catalogue.__name__}.{module.name}"), "ROBOT", None)
            for module in pkgutil.iter_modules(catalogue.__path__)
        }
    )


def collect(modules: dict[str, object]) -> dict[str, Robot]:
    """Robots by name, sorted, from what each module (by its name) calls `ROBOT`.

    Raises:
        EmbodimentError: a module has no `ROBOT`, or two robots share a name; names every such module.
    """
    faults: list[str] = []
    robots: dict[str, Robot] = {}
    owner: dict[str, str] = {}
    for module, robot in sorted(modules.items()):
        if not isinstance(robot, Robot):
            faults.append(f"catalogue/{module}.py must define ROBOT = Robot(...)")
        elif robot.name in robots:
            faults.append(
                f"catalogue/{module}.py and catalogue/{owner[robot.name]}.py both define robot {robot.name!r}; rename one"
            )
        else:
            robots[robot.name], owner[robot.name] = robot, module
    if faults:
        raise EmbodimentError("the catalogue of robots is faulty", faults=faults)
    return dict(sorted(robots.items()))
