"""Looking a thing over before it is imported: size, weight, closed surfaces, winding. Finds everything, mends what it can."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embodiedsmith.assets.imported.faults import Fault
from embodiedsmith.assets.imported.surface import Condition, Surface, examine, filled, rewound, shells

LARGEST, SMALLEST = 2.0, 0.005
"""Longest side of a thing that is taken for one [m]."""
HEAVIEST = 1000.0
"""[kg]"""
USUAL = (0.02, 0.6)
"""Longest side of what people put on tables [m]: what a proposed scale is to lead to."""
UNITS = (
    (0.001, "millimetres"), (0.01, "centimetres"), (0.0254, "inches"), (10.0, "units of 10 m"), (100.0, "units of 100 m"),
    (1000.0, "kilometres"),
)  # fmt: skip
MOST_SHELLS = 400
"""Separate pieces of surface in one thing; scans of clouds of points have thousands."""


@dataclass(frozen=True)
class Checked:
    """A thing looked over, and mended as far as that goes."""

    surfaces: tuple[Surface, ...]
    """Mended, and rescaled when that was proposed."""
    faults: tuple[Fault, ...]
    """What was wrong; each is mended in `surfaces` when it says that it is cured."""
    notes: tuple[str, ...]
    closed: bool
    """Whether every surface encloses a volume."""
    rescaled: float
    """What it was multiplied by."""


def check(surfaces: tuple[Surface, ...], *, density: float, mass: float | None, scale: float) -> Checked:
    """Look a thing over whose mass [kg] is given or follows from its density [kg/m^3].

    `scale` is what the lengths of the file were multiplied by: proposals are told on top of it.
    """
    faults: list[Fault] = []
    mended = []
    for surface in surfaces:
        condition = examine(surface)
        faults += _surface_faults(surface.name, surface, condition)
        mended.append(_mend(surface, condition))
    factor, size_faults = _size(tuple(mended), density, mass, scale)
    faults += size_faults
    closed = all(examine(surface).closed for surface in mended)
    notes = []
    if not closed:
        notes.append("its surface does not enclose a volume; its inertia is that of its convex pieces, its mass " + (
            "as given" if mass is not None else "theirs, too much where it is hollow"
        ))  # fmt: skip
    return Checked(tuple(s.scaled(factor) for s in mended), tuple(faults), tuple(notes), closed, factor)


def _mend(surface: Surface, condition: Condition) -> Surface:
    if condition.sound:
        return surface
    wound = rewound(surface)
    if condition.open_edges:
        wound = rewound(filled(wound))
    return wound


def _surface_faults(name: str, surface: Surface, condition: Condition) -> list[Fault]:
    faults = []
    if (count := int(shells(surface.faces).max()) + 1) > MOST_SHELLS:
        faults.append(Fault(f"'{name}' is {count} separate pieces of surface", "join them: it looks like a soup of triangles"))
    if condition.reversed_faces:
        n = condition.reversed_faces
        faults.append(
            Fault(f"{n} of {len(surface.faces)} faces of '{name}' are wound against their neighbours",
                  "recalculate the normals", cured=f"turned {n} faces of '{name}' over")
        )  # fmt: skip
    if condition.inside_out:
        faults.append(
            Fault(
                f"'{name}' is inside out: its faces are wound inwards", "flip the normals", cured=f"turned '{name}' outside out"
            )
        )
    if not condition.closed:
        what = (
            f"'{name}' is not closed ({condition.open_edges} open edges, {condition.crowded_edges} shared by three faces or more)"
        )
        closed = examine(_mend(surface, condition)).closed
        cured = f"closed the holes of '{name}'" if closed else f"took '{name}' as its convex pieces, for it cannot be closed"
        faults.append(Fault(what, "close it in the program it was made with", cured=cured))
    return faults


def _size(surfaces: tuple[Surface, ...], density: float, mass: float | None, scale: float) -> tuple[float, list[Fault]]:
    """What to multiply the thing by so that its size is plausible, and what is wrong with the size that it has."""
    corners = np.concatenate([surface.vertices for surface in surfaces])
    sides = np.ptp(corners, axis=0)
    longest = float(sides.max())
    weight = mass if mass is not None else density * sum(abs(float(surface.mesh.volume)) for surface in surfaces)
    if SMALLEST <= longest <= LARGEST and weight <= HEAVIEST:
        return 1.0, []
    said = " x ".join(f"{side:.3g}" for side in sides)
    what = f"it would be {said} m and weigh {weight:.3g} kg, which is implausible"
    for factor, unit in UNITS:
        if USUAL[0] <= longest * factor <= USUAL[1]:
            proposal = f"if the file is in {unit}, give --scale {scale * factor:g}"
            return factor, [Fault(what, proposal, cured=f"scaled it by {factor:g} (the file is taken to be in {unit})")]
    return 1.0, [Fault(what, "give --scale with what makes it metres")]
