"""From somebody's file to a thing of the house: looked over, mended on request, weighed, taken apart, put down and picked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from embodiedsmith.assets import solids
from embodiedsmith.assets.colors import COLORS
from embodiedsmith.assets.imported import antipodal, hollows, pieces, store
from embodiedsmith.assets.imported.checks import Checked, check
from embodiedsmith.assets.imported.faults import Fault, ImportRefused
from embodiedsmith.assets.imported.reading import read
from embodiedsmith.assets.imported.store import Imported, KeptGrasp, KeptHollow, KeptTop, Record
from embodiedsmith.assets.imported.surface import GREY, Float, Surface
from embodiedsmith.assets.imported.trials import Body, Holding, Physics, Rays, settle
from embodiedsmith.assets.materials import MATERIALS
from embodiedsmith.runtime.files import sha256_file
from embodiedsmith.spec import Vec3

SHOWN_FACES = 1400
"""Triangles of the surfaces to see, all together."""
STANDS = np.radians(3.0)
"""Tilt after being put down below which a thing stands as it is [rad]."""
HEAVY = 0.5
"""What robots of the house hold through a shake [kg]."""

Axis = Literal["x", "y", "z"]


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the user says of the file."""

    name: str
    words: dict[Literal["en", "zh"], tuple[str, ...]] = field(default_factory=dict)
    """Words for it; in English the name when none is given."""
    scale: float = 1.0
    """What lengths in the file are to be multiplied by to be metres."""
    up: Axis | None = None
    """The axis of the file that points up; None: the format's own."""
    mass: float | None = None
    """[kg]; None: that of the file, else volume times density."""
    density: float | None = None
    """[kg/m^3]; None: the material's."""
    material: str = "plastic"
    color: str | None = None
    """Its colour where the file does not say one."""
    licence: str = "unknown"
    repair: bool = False
    replace: bool = False


def import_asset(path: Path, wishes: Wishes, physics: Physics) -> Imported:
    """Make a category of the thing in a file, and keep it.

    Raises:
        ImportRefused: it cannot be imported as it is; names every fault with its remedy.
        SmithError: there is a thing of that name already.
    """
    source = read(path)
    material = MATERIALS[wishes.material]
    surfaces = tuple(s.scaled(wishes.scale).moved(_upright(wishes.up or source.up), np.zeros(3)) for s in source.surfaces)
    density = wishes.density or material.density
    checked = check(surfaces, density=density, mass=wishes.mass or source.mass, scale=wishes.scale)
    faults = [*source.faults, *checked.faults]
    if any(not (wishes.repair and fault.cured) for fault in faults):
        raise ImportRefused(path, faults)
    touched = pieces.convex_pieces(checked.surfaces)
    inertial = _weigh(checked, touched, density, wishes.mass or source.mass)
    standing = _stand(checked.surfaces, touched, inertial, physics, material.friction)
    notes = [*checked.notes, *standing.notes]
    hollow, top, body = _look_down(standing, physics, notes)
    grasps, tried = antipodal.find_grasps(Rays(standing.surfaces), Holding(body, physics), _draws(path), body.inertial.com)
    if not grasps:
        notes.append(f"no grasp of {tried} tried holds it: robots can push it, not pick it up")
    if body.inertial.mass > HEAVY:
        notes.append(f"it weighs {body.inertial.mass:.2f} kg; robots are tested with {HEAVY} kg")
    looks = _light(_colored(standing.surfaces, wishes.color))
    record = Record(
        name=wishes.name,
        words={"en": wishes.words.get("en") or (wishes.name.replace("_", " "),), "zh": wishes.words.get("zh", ())},
        licence=wishes.licence,
        source=path.name,
        source_sha256=sha256_file(path),
        scale=wishes.scale * checked.rescaled,
        material=wishes.material,
        color=_nearest_color(looks),
        mass=body.inertial.mass,
        com=_vec(body.inertial.com),
        inertia=_six(body.inertial.inertia),
        looks=tuple(look.rgba for look in looks),
        pieces=len(body.pieces),
        grasps=tuple(KeptGrasp(pose=g.pose, width=round(g.width, 5), kind=g.kind) for g in grasps),
        hollow=hollow,
        top=top,
        repairs=tuple(dict.fromkeys(fault.cured for fault in faults)),
        notes=tuple(notes),
    )
    return store.save(record, looks, body.pieces, replace=wishes.replace)


@dataclass(frozen=True)
class Standing:
    """A thing turned and shifted so that it stands on z = 0 over the origin."""

    surfaces: tuple[Surface, ...]
    body: Body
    notes: tuple[str, ...]


def _stand(
    surfaces: tuple[Surface, ...], touched: tuple[Float, ...], inertial: solids.Inertial, physics: Physics, friction: float
) -> Standing:
    """Put the thing down as it is in the file; when it tips over, turn it as it then lies."""
    notes: list[str] = []
    body = Body(pieces=touched, inertial=inertial, friction=friction)
    turn, still = settle(body, physics)
    tilt = float(np.arccos(np.clip(turn[2, 2], -1, 1)))
    if tilt > STANDS:
        notes.append(f"as it is in the file it tips over by {np.degrees(tilt):.0f} degrees; it is kept as it then lies")
    else:
        turn = np.eye(3)
    if not still:
        notes.append("it does not come to rest within three seconds: it rolls")
    turned = [piece @ turn.T for piece in touched]
    low = np.min([piece.min(axis=0) for piece in turned], axis=0)
    high = np.max([piece.max(axis=0) for piece in turned], axis=0)
    shift = -np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    moved = solids.Inertial(mass=inertial.mass, com=turn @ inertial.com + shift, inertia=turn @ inertial.inertia @ turn.T)
    placed = replace(body, pieces=tuple(piece + shift for piece in turned), inertial=moved)
    return Standing(tuple(surface.moved(turn, shift) for surface in surfaces), placed, tuple(notes))


def _look_down(standing: Standing, physics: Physics, notes: list[str]) -> tuple[KeptHollow | None, KeptTop | None, Body]:
    """The hollow that a ball stays in, or else the top that things can stand on; and the body that it was tried with."""
    seen = hollows.relief(Rays(standing.surfaces))
    body = standing.body
    found = hollows.find_hollow(seen)
    if found is not None:
        if not hollows.probe(found, body, physics):
            finer = pieces.convex_pieces(standing.surfaces, pieces.FINE_CONCAVITY)
            body = replace(body, pieces=finer)
        if body is standing.body or hollows.probe(found, body, physics):
            hollow = KeptHollow(center=found.center, floor=found.floor, rim=found.rim, width=found.width, opening=found.opening)
            return hollow, None, body
        notes.append("it looks hollow, but a ball dropped in does not stay: nothing can be put inside")
        body = standing.body
    top = hollows.find_top(seen)
    if top is None:
        return None, None, body
    return None, KeptTop(center=top.pose.position, width=top.size[0]), body


def _weigh(checked: Checked, touched: tuple[Float, ...], density: float, mass: float | None) -> solids.Inertial:
    """Mass properties: those of the true surface where it is closed, else those of its convex pieces."""
    if checked.closed:
        parts = [solids.mesh_inertial(surface.mesh, density) for surface in checked.surfaces]
    else:
        parts = [solids.mesh_inertial(pieces.hull(piece), density) for piece in touched]
    whole = solids.total(parts)
    factor = 1.0 if mass is None else mass / whole.mass
    return solids.Inertial(mass=whole.mass * factor, com=whole.com, inertia=whole.inertia * factor)


def _light(surfaces: Sequence[Surface]) -> tuple[Surface, ...]:
    """The surfaces to see: one a colour, simplified."""
    colors = list(dict.fromkeys(surface.rgba for surface in surfaces))[:8]
    groups = {rgba: [s for s in surfaces if s.rgba == rgba or (s.rgba not in colors and rgba == colors[0])] for rgba in colors}
    total = sum(len(surface.faces) for surface in surfaces)
    looks = []
    for rgba, members in groups.items():
        offsets = np.cumsum([0, *(len(member.vertices) for member in members)])
        vertices = np.concatenate([member.vertices for member in members])
        faces = np.concatenate([member.faces + offset for member, offset in zip(members, offsets, strict=False)])
        joined = Surface("look", vertices, faces, rgba)
        looks.append(pieces.simplified(joined, max(60, round(SHOWN_FACES * len(faces) / total))))
    return tuple(looks)


def _colored(surfaces: Sequence[Surface], color: str | None) -> tuple[Surface, ...]:
    """The surfaces, those without a colour of their own in the one that is wished for."""
    rgba = GREY if color is None else COLORS[color].rgba
    return tuple(replace(surface, rgba=rgba) if surface.rgba == GREY else surface for surface in surfaces)


def _nearest_color(looks: Sequence[Surface]) -> str:
    """The colour word nearest to the colour that covers most of it."""
    largest = max(looks, key=lambda look: float(look.mesh.area))
    seen = np.asarray(largest.rgba[:3])
    return min(COLORS, key=lambda name: float(np.linalg.norm(np.asarray(COLORS[name].rgba[:3]) - seen)))


def _upright(axis: str) -> Float:
    """The rotation that takes an axis of the file to z."""
    match axis:
        case "y":
            return np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
        case "x":
            return np.array([[0, 0, -1.0], [0, 1.0, 0], [1.0, 0, 0]])
        case _:
            return np.eye(3)


def _draws(path: Path) -> np.random.Generator:
    """Draws that depend on the content of the file only: the same file gives the same thing."""
    return np.random.default_rng([ord(letter) for letter in sha256_file(path)[:16]])


def _vec(values: Float) -> Vec3:
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def _six(inertia: Float) -> tuple[float, float, float, float, float, float]:
    xx, yy, zz = (float(inertia[k, k]) for k in range(3))
    return (xx, yy, zz, float(inertia[0, 1]), float(inertia[0, 2]), float(inertia[1, 2]))


__all__ = ["Fault", "ImportRefused", "Wishes", "import_asset"]
