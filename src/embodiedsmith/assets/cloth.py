"""Sheets of cloth: a grid of points that stretch, shear and bend against each other (a MuJoCo flex of two dimensions).

Each point is a body with three slides, a child of the fragment's `root`, which has neither shape nor mass and never moves: where
the cloth is, its points are. Every point also has a site of its body's name, by which a hand can take hold of it.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Affordances, Asset, Matter
from embodiedsmith.assets.colors import COLORS
from embodiedsmith.assets.fragment import TORSIONAL_FRICTION, VISUAL_GROUP
from embodiedsmith.assets.materials import MATERIALS
from embodiedsmith.spec import AssetSpec

FLEX = "cloth"
"""Name of the flex in the fragment; point k is the body and the site `cloth_<k>`."""
RADIUS = 0.003
"""[m] Of the ball round every point that touches things: half of what two layers are apart."""
YOUNG, SHELL_THICKNESS, DAMPING = 2e4, 1e-3, 1e-2
"""Stiffness [Pa], thickness for bending [m] and damping [s] of the shell. Measured: at 4 ms a step a sheet of 100 to 200 points
falls, folds and comes to rest under the `discrete` integrator with these; ten times stiffer, it no longer drapes over a bowl."""
AIR = 0.5
"""[s] In which still air stops it: 2 m / (rho c v), of a sheet of 0.2 to 0.4 kg/m2 that moves broadside at about 1 m/s. Without,
what hangs from a bar swings on and walks off it."""
FINEST = 0.03
"""[m] Distance of neighbouring points aimed at: a face towel then has about 100, what can be simulated at about real time."""


def add_cloth(spec: AssetSpec, *, size: tuple[float, float], thickness: float, color: str, material: str) -> Asset:
    """A flat sheet, `size` [m] along x and y; `thickness` [m] decides its mass; `color` and `material` if the spec has none."""
    made_of = MATERIALS[spec.material or material]
    rgba = COLORS[spec.color or color].rgba
    grid = (round(size[0] / FINEST) + 1, round(size[1] / FINEST) + 1)
    mass = made_of.density * thickness * size[0] * size[1]
    mjspec: Any = mujoco.MjSpec()
    mjspec.compiler.degree = False
    mjspec.modelname = spec.category
    root = mjspec.worldbody.add_body(name="root")
    flex = root.make_flex(
        name=FLEX, type="grid", dim=2, count=[*grid, 1], spacing=[size[0] / (grid[0] - 1), size[1] / (grid[1] - 1), FINEST],
        radius=RADIUS, mass=mass, elastic2d=3, pos=[0.0, 0.0, RADIUS],
    )  # fmt: skip
    flex.young, flex.thickness, flex.damping = YOUNG, SHELL_THICKNESS, DAMPING
    flex.selfcollide = int(mujoco.mjtFlexSelf.mjFLEXSELF_AUTO)
    flex.friction = [made_of.friction, TORSIONAL_FRICTION, 0.0001]
    look = f"{made_of.name}_{spec.color or color}"
    mjspec.add_material(name=look, rgba=rgba, specular=made_of.specular, shininess=made_of.shininess)
    flex.material, flex.group, flex.flatskin = look, VISUAL_GROUP, 0
    for body in mjspec.bodies:
        if body.name.startswith(f"{FLEX}_"):
            body.add_site(name=body.name, group=5)
    half_x, half_y = size[0] / 2, size[1] / 2
    return Asset(
        spec=spec,
        mjspec=mjspec,
        mass=mass,
        extents=((-half_x - RADIUS, -half_y - RADIUS, 0.0), (half_x + RADIUS, half_y + RADIUS, 2 * RADIUS)),
        affordances=Affordances(),
        matter=Matter(kind="cloth", flex=FLEX, spacing=float(np.mean(size) / (np.mean(grid) - 1)), grid=grid),
    )


def damp(model: mujoco.MjModel) -> None:
    """Let air brake every point of cloth in a compiled model; a spec does not take damping on the points of a flex."""
    for flex in range(model.nflex):
        if mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, flex).rpartition("/")[2] == FLEX:
            start, count = int(model.flex_vertadr[flex]), int(model.flex_vertnum[flex])
            dofs = np.flatnonzero(np.isin(model.dof_bodyid, model.flex_vertbodyid[start : start + count]))
            model.dof_damping[dofs] = model.body_mass[model.dof_bodyid[dofs]] / AIR
