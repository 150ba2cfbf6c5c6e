"""`smith assets` and `smith robots`: what there is to build with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from embodiedsmith.cli.common import Command, Flag, Outcome
from embodiedsmith.runtime.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from embodiedsmith.assets import Category
    from embodiedsmith.assets.imported.store import Imported
    from embodiedsmith.embodiments import Robot


@dataclass(frozen=True, kw_only=True)
class Assets(Command):
    """List the categories of things, show one, draw them all, or import one from a file.

    Example: smith assets import stapler.stl --name stapler --density 500 --licence Apache-2.0 --repair
    """

    action: Positional[Literal["list", "show", "import", "remove"]] = "list"
    """`import` makes the thing in a mesh, URDF or MJCF file one that briefs can name; `remove` forgets one."""
    target: Annotated[str | None, Positional, arg(metavar="NAME|FILE")] = None
    """Which category to show or forget, or which file to import."""
    gallery: Path | None = None
    """Write a picture of every category to this PNG file."""
    name: str | None = None
    """Import: what it is called, in lower case."""
    words: tuple[str, ...] = ()
    """Import: English words for it, singular, the preferred one first; without them its name."""
    words_zh: tuple[str, ...] = ()
    """Import: Chinese words for it."""
    scale: float = 1.0
    """Import: what lengths in the file are multiplied by to be metres."""
    up: Literal["x", "y", "z"] | None = None
    """Import: the axis that points up; the format's own without it."""
    mass: float | None = None
    """Import: what it weighs [kg]; without it what the file says, else volume times density."""
    density: float | None = None
    """Import: [kg/m^3]; without it the material's."""
    material: str = "plastic"
    """Import: what it is made of, as `smith assets show` names materials."""
    color: str | None = None
    """Import: its colour where the file has none."""
    licence: str = "unknown"
    """Import: the terms under which the file may be used."""
    repair: Flag = False
    """Import: mend what can be mended, and say so, instead of refusing."""
    replace: Flag = False
    """Import: take the place of an earlier import of the same name."""

    def run(self) -> Outcome:
        """Do it."""
        from embodiedsmith import assets

        if self.gallery is not None:
            return self._gallery(self.gallery)
        match self.action:
            case "import":
                return self._import()
            case "remove":
                return self._remove()
            case "show":
                name = _wanted(self.target, "smith assets show NAME", assets.categories())
                category = assets.category(_full_name(name))
                return Outcome(text=_category_text(category), data=_category_data(category))
        known = assets.categories()
        width = max(len(name) for name in known)
        lines = [
            f"{c.name:<{width}}  {c.role:<9}  {', '.join(dict.fromkeys(c.names['en'] + c.names['zh']))}" for c in known.values()
        ]
        return Outcome(text="\n".join(lines), data={"assets": [_category_data(c) for c in known.values()]})

    def _import(self) -> Outcome:
        from embodiedsmith import api

        usage = "smith assets import FILE --name NAME"
        if self.target is None or self.name is None:
            raise UsageError("a file and a name are needed", where=usage)
        kept = api.import_asset(
            self.target, name=self.name, words=self.words, words_zh=self.words_zh, scale=self.scale, up=self.up, mass=self.mass,
            density=self.density, material=self.material, color=self.color, licence=self.licence, repair=self.repair,
            replace=self.replace,
        )  # fmt: skip
        return Outcome(text=_imported_text(kept), data={"category": kept.category, "record": kept.record.model_dump(mode="json")})

    def _remove(self) -> Outcome:
        from embodiedsmith.assets.imported import store

        names = [kept.record.name for kept in store.load_all()]
        name = _wanted(self.target, "smith assets remove NAME", names)
        if name not in names:
            raise unknown_name("imported thing", name, names)
        store.remove(name)
        return Outcome(text=f"forgot {name}; scenarios made with it can no longer be built", data={"removed": name})

    def _gallery(self, path: Path) -> Outcome:
        from embodiedsmith import assets

        assets.gallery(path)
        return Outcome(text=f"{path}", data={"gallery": str(path)})


@dataclass(frozen=True, kw_only=True)
class Robots(Command):
    """List the robots, show one, put one to the hold test, or import one from a URDF or MJCF file.

    Example: smith robots import my_arm.urdf --name my_arm --licence BSD-3-Clause
    """

    action: Positional[Literal["list", "show", "check", "import", "remove"]] = "list"
    """`check` holds boxes, cylinders and mugs of 50, 200 and 500 g still and through a shake, in physics; `remove` forgets one
    that was imported."""
    target: Annotated[str | None, Positional, arg(metavar="NAME|FILE")] = None
    """Which robot to show, check or forget, or which file to import."""
    name: str | None = None
    """Import: what it is called, in lower case."""
    palm: str | None = None
    """Import: the body that carries the gripper to use, where there are several."""
    licence: str = "unknown"
    """Import: the terms under which the file may be used."""
    repair: Flag = False
    """Import: mend what can be mended, and say so, instead of refusing."""
    replace: Flag = False
    """Import: take the place of an earlier import of the same name."""

    def run(self) -> Outcome:
        """Do it."""
        from embodiedsmith import embodiments

        if self.action == "import":
            return self._import()
        if self.action == "remove":
            return self._remove()
        name = None if self.target is None else embodiments.full_name(self.target)
        if self.action == "check":
            return self._check(_wanted(name, "smith robots check NAME", embodiments.names()))
        if self.action == "show":
            robot = embodiments.get(_wanted(name, "smith robots show NAME", embodiments.names()))
            return Outcome(text="\n".join(f"{k:<18} {v}" for k, v in _robot_data(robot).items()), data=_robot_data(robot))
        robots = [embodiments.get(name) for name in embodiments.names()]
        width = max(len(robot.name) for robot in robots)
        lines = [f"{robot.name:<{width}}  {robot.title}" for robot in robots]
        return Outcome(text="\n".join(lines), data={"robots": [_robot_data(robot) for robot in robots]})

    def _import(self) -> Outcome:
        from embodiedsmith import api

        if self.target is None or self.name is None:
            raise UsageError("a file and a name are needed", where="smith robots import FILE --name NAME")
        kept = api.import_robot(
            self.target, name=self.name, palm=self.palm, licence=self.licence, repair=self.repair, replace=self.replace
        )
        record = kept.record
        lines = [
            f"{record.name}: `--embodiment {record.name}` in any command; kept as {kept.name}",
            *(f"guessed    {guess}" for guess in record.guesses),
            *(f"note       {note}" for note in record.notes),
            f"licence    {record.licence}",
            f"next       smith robots check {record.name}",
        ]
        return Outcome(text="\n".join(lines), data={"robot": kept.name, "record": record.model_dump(mode="json")})

    def _remove(self) -> Outcome:
        from embodiedsmith.embodiments.imported import store

        names = [kept.record.name for kept in store.load_all()]
        name = _wanted(self.target, "smith robots remove NAME", names)
        if name not in names:
            raise unknown_name("imported robot", name, names)
        store.remove(name)
        return Outcome(text=f"forgot {name}; scenarios made with it can no longer be built", data={"removed": name})

    def _check(self, name: str) -> Outcome:
        from embodiedsmith import embodiments
        from embodiedsmith.embodiments.holdtest import hold_test

        results = hold_test(embodiments.get(name))
        lines = [str(result) for result in results]
        passed = all(result.passed for result in results)
        lines.append(f"{sum(r.passed for r in results)} of {len(results)} hold")
        data = {"robot": name, "passed": passed, "results": [vars(r) | {"passed": r.passed} for r in results]}
        return Outcome(text="\n".join(lines), data=data, exit_code=0 if passed else 1)


def _full_name(name: str) -> str:
    """The category of that name, or the one that was imported under it."""
    from embodiedsmith import assets

    return next((category.name for category in assets.categories().values() if category.label == name), name)


def _imported_text(kept: Imported) -> str:
    """What became of an import, for people."""
    record = kept.record
    hollow = f"{100 * record.hollow.width:.1f} cm wide inside, a ball dropped in stays" if record.hollow else "none"
    lines = [
        f"{record.name}: '{record.words['en'][0]}' in any brief, such as \"put the {record.words['en'][0]} on the plate\"",
        f"category   {kept.category}",
        f"mass       {record.mass:.3g} kg, {record.pieces} convex pieces to touch",
        f"grasps     {len(record.grasps)} that held in physics",
        f"hollow     {hollow}",
        f"top        {f'{100 * record.top.width:.1f} cm for things to stand on' if record.top else 'none'}",
        f"licence    {record.licence}",
        *(f"repaired   {repair}" for repair in record.repairs),
        *(f"note       {note}" for note in record.notes),
    ]
    return "\n".join(lines)


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
