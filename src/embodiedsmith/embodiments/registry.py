"""The catalogue of robots: one file each in `embodiments/catalogue/`, found by looking."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from embodiedsmith.embodiments import catalogue
from embodiedsmith.embodiments.description import Robot
from embodiedsmith.embodiments.errors import EmbodimentError, UnknownRobot
from embodiedsmith.embodiments.imported import store


def get(name: str) -> Robot:
    """The robot called `name`; raises `UnknownRobot` with near matches and the names there are."""
    if (found := _catalogue().get(name)) is not None:
        return found
    imported = {kept.name: kept for kept in store.load_all()}
    if name not in imported:
        later = [new for new in imported if new.rpartition("_")[0] == name.rpartition("_")[0]]  # all but the content
        raise UnknownRobot(name, names(), later)
    return store.as_robot(imported[name])


def full_name(name: str) -> str:
    """The whole name of a robot that was imported as `name`; `name` itself when none was."""
    return next((kept.name for kept in store.load_all() if kept.record.name == name), name)


def names(*, imported: bool = True) -> tuple[str, ...]:
    """Names of all robots, sorted; those that were imported last.

    Whoever draws from them takes `imported=False`: what a user imported must not change what others get for a seed.
    """
    return (*_catalogue(), *((kept.name for kept in store.load_all()) if imported else ()))


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
