"""`smith assets` and `smith robots`: what there is to build with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tyro.conf import Positional

from embodiedsmith.cli.common import Command, Name, Outcome
from embodiedsmith.runtime.errors import UsageError

if TYPE_CHECKING:
    from embodiedsmith.assets import Category
    from embodiedsmith.embodiments import Robot


@dataclass(frozen=True, kw_only=True)
class Assets(Command):
    """List the categories of things, show one, or draw them all."""

    action: Positional[Literal["list", "show"]] = "list"
    """What to do."""
    name: Name = None
    """Which category to show."""
    gallery: Path | None = None
    """Write a picture of every category to this PNG file."""

    def run(self) -> Outcome:
        """List, show or draw."""
        from embodiedsmith import assets

        if self.gallery is not None:
            return self._gallery(self.gallery)
        if self.action == "show":
            category = assets.category(_wanted(self.name, "smith assets show NAME", assets.categories()))
            return Outcome(text=_category_text(category), data=_category_data(category))
        known = assets.categories()
        width = max(len(name) for name in known)
        lines = [f"{c.name:<{width}}  {c.role:<9}  {', '.join(c.names['en'] + c.names['zh'])}" for c in known.values()]
        return Outcome(text="\n".join(lines), data={"assets": [_category_data(c) for c in known.values()]})

    def _gallery(self, path: Path) -> Outcome:
        from embodiedsmith import assets

        assets.gallery(path)
        return Outcome(text=f"{path}", data={"gallery": str(path)})


@dataclass(frozen=True, kw_only=True)
class Robots(Command):
    """List the robots, show one, or put one to the hold test."""

    action: Positional[Literal["list", "show", "check"]] = "list"
    """`check` holds boxes, cylinders and mugs of 50, 200 and 500 g still and through a shake, in physics."""
    name: Name = None
    """Which robot to show or check."""

    def run(self) -> Outcome:
        """List, show or check."""
        from embodiedsmith import embodiments

        if self.action == "check":
            return self._check(_wanted(self.name, "smith robots check NAME", embodiments.names()))
        if self.action == "show":
            robot = embodiments.get(_wanted(self.name, "smith robots show NAME", embodiments.names()))
            return Outcome(text="\n".join(f"{k:<18} {v}" for k, v in _robot_data(robot).items()), data=_robot_data(robot))
        robots = [embodiments.get(name) for name in embodiments.names()]
        width = max(len(robot.name) for robot in robots)
        lines = [f"{robot.name:<{width}}  {robot.title}" for robot in robots]
        return Outcome(text="\n".join(lines), data={"robots": [_robot_data(robot) for robot in robots]})

    def _check(self, name: str) -> Outcome:
        from embodiedsmith import embodiments
        from embodiedsmith.embodiments.holdtest import hold_test

        results = hold_test(embodiments.get(name))
        lines = [str(result) for result in results]
        passed = all(result.passed for result in results)
        lines.append(f"{sum(r.passed for r in results)} of {len(results)} hold")
        data = {"robot": name, "passed": passed, "results": [vars(r) | {"passed": r.passed} for r in results]}
        return Outcome(text="\n".join(lines), data=data, exit_code=0 if passed else 1)


def _wanted(name: str | None, usage: str, choices: Any) -> str:
    if name is None:
        raise UsageError("a name is missing", where=usage, choices=sorted(choices))
    return name


def _category_data(category: Category) -> dict[str, Any]:
    return {
        "name": category.name,
        "title": category.title,
        "role": category.role,
        "tags": sorted(category.tags),
        "names": {language: list(words) for language, words in category.names.items()},
        "colors": list(category.colors),
        "materials": list(category.materials),
        "params": {
            name: {
                "default": param.default, "low": param.low, "high": param.high, "unit": param.unit,
                "meaning": param.meaning, "source": param.source, "choices": list(param.choices),
            }
            for name, param in category.params.items()
        },
    }  # fmt: skip


def _category_text(category: Category) -> str:
    lines = [
        f"{category.name}: {category.title} ({category.role})",
        f"words      {', '.join(category.names['en'])}; {'、'.join(category.names['zh'])}",
        f"tags       {', '.join(sorted(category.tags)) or '-'}",
        f"colours    {', '.join(category.colors)}",
        f"materials  {', '.join(category.materials)}",
        "parameters:",
    ]
    for name, param in category.params.items():
        span = f" ({param.low:g} to {param.high:g})" if param.low is not None and param.high is not None else ""
        default = f"{param.default:.4g}" if isinstance(param.default, float) else str(param.default)
        lines.append(f"  {name:<16} {default} {param.unit}{span}: {param.meaning}")
    return "\n".join(lines)


def _robot_data(robot: Robot) -> dict[str, Any]:
    hand = robot.arm.gripper
    return {
        "name": robot.name,
        "title": robot.title,
        "source": robot.source,
        "licence": robot.licence,
        "base": robot.base.kind,
        "arms": len(robot.arms),
        "joints": [*robot.base.joints, *(joint for arm in robot.arms for joint in arm.joints)],
        "reach_m": robot.arm.reach,
        "gripper_width_m": hand.max_width,
        "gripper_force_n": hand.force,
        "cameras": [camera.name for camera in robot.cameras],
    }
