"""Soft blocks: a rigid core hung in a block of elastic material, which fingers press in and which springs back.

The material is a MuJoCo flex of two by two by two trilinear cells. Its nodes are bodies that slide along the axes of the root,
which is the core: so a soft block has a pose like any other thing, and putting it somewhere puts all of it there. Weak
springs on the slides keep the core turned as the material is.

The block as it is when nobody presses is a collision shape that touches nothing in physics; planning and measuring see it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Affordances, Asset, Matter
from embodiedsmith.assets.fragment import STIFFNESS, TORSIONAL_FRICTION, VISUAL_GROUP, Fragment
from embodiedsmith.spec import Vec3

FLEX = "soft"
SKIN = 0.001
"""[m] Radius of the vertices: how far the surface is outside of them."""
SPACING = 0.012
"""[m] Distance of neighbouring vertices, about: a fingertip of 20 mm always presses on several."""
CORE = 0.3
"""Share of the mass that is in the core, which is a box of half the block's extents."""
POISSON = 0.3
"""Plush and foam hardly bulge when pressed."""
DAMPING = 0.004
"""[s] Time constant of the material's own damping."""
HUNG = 3.0
"""[N/m] Stiffness of every node's slides: little beside the material's, enough to turn the core."""
NODE_DAMPING = 0.3
"""[N s/m] Of every node's slides, against the core. Without it pads as stiff as those of fingers, on nodes of a gram, are more
than the solver resolves: blocks that are no cubes, held level by their middle, blew up when they were lifted."""
AT_REST = 1 << 10
"""Contact type of the block at rest; nothing in physics has an affinity to it."""
_CENTER = 13
"""Number of the node in the middle, of three by three by three."""


def soft_block(fragment: Fragment, size: Vec3, affordances: Affordances, *, young: float) -> Asset:
    """Finish an asset that is nothing but a soft block standing on z = 0 of the root, in the fragment's main finish.

    Args:
        fragment: The asset under construction, empty so far.
        size: Full extents [m].
        affordances: What can be done with it.
        young: Young's modulus of the material [Pa].
    """
    finish, middle = fragment.main, (0.0, 0.0, size[2] / 2)
    density, half = finish.material.density, (size[0] / 2, size[1] / 2, size[2] / 2)
    fragment.box("root", half, middle, finish, visible=False, collides=False, density=8 * CORE * density)
    fragment.box("root", size, middle, finish, visible=False, density=0.0)
    root = fragment.mjspec.body("root")
    root.geoms[-1].contype, root.geoms[-1].conaffinity = AT_REST, 0
    mass = (1 - CORE) * density * float(np.prod(size))
    spacing = _fill(fragment, root, size, mass, young)
    asset = fragment.finish(affordances)
    return replace(asset, mass=asset.mass + mass, matter=Matter(kind="soft", flex=FLEX, spacing=spacing))


def damp(model: mujoco.MjModel) -> None:
    """Damp the nodes of every soft block of a compiled model; a spec does not take damping on the nodes of a flex."""
    for flex in range(model.nflex):
        if mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, flex).rpartition("/")[2] == FLEX:
            start, count = int(model.flex_nodeadr[flex]), int(model.flex_nodenum[flex])
            bodies = np.delete(model.flex_nodebodyid[start : start + count], _CENTER)
            model.dof_damping[np.isin(model.dof_bodyid, bodies)] = NODE_DAMPING


def _fill(fragment: Fragment, root: Any, size: Vec3, mass: float, young: float) -> float:
    """Make the flex of that mass [kg], besides an eighth that goes with its middle; returns the distance of vertices [m]."""
    inner = np.asarray(size) - 2 * SKIN
    steps = 2 * np.maximum(1, np.round(inner / SPACING / 2)).astype(int)  # an even number, for two cells
    flex = root.make_flex(
        FLEX, type="grid", dim=3, dof="trilinear", count=(steps + 1).tolist(), cellcount=[2, 2, 2],
        spacing=(inner / steps).tolist(), radius=SKIN, mass=mass * 8 / 7, pos=[0.0, 0.0, size[2] / 2],
    )  # fmt: skip
    flex.young, flex.poisson, flex.damping = young, POISSON, DAMPING
    flex.selfcollide = 0
    flex.condim, flex.friction = 4, [fragment.main.material.friction, TORSIONAL_FRICTION, 0.0001]
    flex.solref = STIFFNESS
    flex.group, flex.material, flex.flatskin = VISUAL_GROUP, fragment.look(fragment.main), 1
    _hang(fragment, flex, size[2] / 2)
    return float((inner / steps).mean())


def _hang(fragment: Fragment, flex: Any, height: float) -> None:
    """Make the node in the middle the core, and hang the others on it."""
    names = list(flex.nodebody)
    for name in names:
        for joint in fragment.mjspec.body(name).joints:
            joint.stiffness = [HUNG, 0, 0]
    middle = fragment.mjspec.body(names[_CENTER])
    names[_CENTER] = "root"
    nodes = np.zeros((len(names), 3))
    nodes[_CENTER, 2] = height
    flex.nodebody, flex.node = names, nodes.ravel()
    fragment.mjspec.delete(middle)
