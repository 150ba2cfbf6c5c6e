"""The liquids of a world: where they begin, how they and the rigid things push each other, their state.

Order within a physics step: positions of bodies (`mj_step1`), the fluid from the bodies' last places to these, then forces and
integration (`mj_step2`) with what the fluid presses on them. All liquids of a scene are one fluid, which mixes; an item's points
are its own wherever they go. What an item's root body shows is the middle of its points: it is a mocap body, which touches
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Asset
from embodiedsmith.spec import SceneSpec
from embodiedsmith.world.liquid.grid import Float, body_shape, distance_grid
from embodiedsmith.world.liquid.solver import Collider, CpuSolver, Frames, Single
from embodiedsmith.world.liquid.vessel import DENSITY, Vessel, Vessels, liquid_items

MOST_FORCE = 60.0  # [N] on one body: six litres' weight
WORKSPACE = 4.0  # [m] from the middle of where liquids began: farther out points are retired
RETIRED = -1000.0  # [m] height at which retired points are kept


@dataclass(frozen=True)
class _Pool:
    """One item of liquid."""

    points: slice
    mocap: int
    """Index of its root among the mocap bodies."""
    vessel: str
    """What it begins in, as `item.cavity`."""


class Liquids:
    """The liquids of one world.

    Args:
        model: Of the world; every liquid's root is a mocap body of it.
        scene: The world's.
        assets: Item id to asset.
        hand: Bodies of the robot's hands: of the robot, only these meet liquids.
        vessels: The rooms of what can hold them.
    """

    def __init__(
        self, model: mujoco.MjModel, scene: SceneSpec, assets: Mapping[str, Asset], hand: Sequence[int], vessels: Vessels
    ) -> None:
        self._model, self._scene, self._assets = model, scene, assets
        self.vessels = vessels
        self._colliders(hand)
        self._pour_out()
        self._middle = self._begun()
        frames = len(self._boxes) + len(self._bodies)
        self._before = Frames(np.zeros((frames, 3, 3), np.float32), np.zeros((frames, 3), np.float32))
        self.size = 6 * len(self.solver.x) + 12 * frames
        """Numbers in `save`."""

    # ------------------------------------------------------------------ what there is

    def _colliders(self, hand: Sequence[int]) -> None:
        """Boxes that cannot move, each by itself; every other body as a grid."""
        model = self._model
        solid = (model.geom_contype | model.geom_conaffinity) != 0
        self._boxes: list[int] = []
        shapes: dict[int, list[Float]] = {}
        of_things = {f"{item.id}/" for item in self._scene.items}
        for geom in np.flatnonzero(solid & (model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE)).tolist():
            body = int(model.geom_bodyid[geom])
            mine = body in hand or body == 0 or any(model.body(body).name.startswith(name) for name in of_things)
            if not mine and model.body(body).name != "pedestal":
                continue
            if model.body_weldid[body] == 0 and model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
                self._boxes.append(geom)
            else:
                shapes.setdefault(body, []).append(body_shape(model, geom))
        self._bodies = list(shapes)
        self._grids = {body: distance_grid(parts) for body, parts in shapes.items()}
        self._owners = np.concatenate([model.geom_bodyid[self._boxes], self._bodies]).astype(int)

    def _pour_out(self) -> None:
        """Make the particles of every liquid; where they are is up to `fill`."""
        items = liquid_items(self._scene, self._assets)
        spacings, counts = [], []
        for item in items:
            matter, mass = self._assets[item.id].matter, self._assets[item.id].mass
            assert matter is not None
            spacings.append(matter.spacing)
            counts.append(mass / DENSITY)
        spacing = max(spacings)
        self.pools: dict[str, _Pool] = {}
        at = 0
        for item, volume in zip(items, counts, strict=True):
            count = max(1, round(volume / spacing**3))
            mocap = int(self._model.body(f"{item.id}/root").mocapid[0])
            assert item.parent is not None
            cavity = self._assets[item.parent].affordances.cavity(item.support)
            self.pools[item.id] = _Pool(slice(at, at + count), mocap, f"{item.parent}.{cavity.name}")
            at += count
        solids = [Collider(None, _half(self._model, geom)) for geom in self._boxes]
        solids += [Collider(self._grids[body]) for body in self._bodies]
        self.solver = CpuSolver(np.zeros((at, 3)), spacing, DENSITY * spacing**3, solids)

    def vessel(self, reference: str) -> tuple[Vessel, int]:
        """The room inside a cavity named `item.cavity`, and the body it moves with."""
        return self.vessels.vessel(reference)

    def _begun(self) -> Float:
        """Middle (3,) of the vessels that liquids begin in, as the scene has them [m]: of the model alone, for all its states."""
        data = mujoco.MjData(self._model)
        mujoco.mj_kinematics(self._model, data)
        middle: Float = np.mean([data.xpos[self.vessel(pool.vessel)[1]] for pool in self.pools.values()], axis=0)
        return middle

    # ------------------------------------------------------------------ running

    def fill(self, data: mujoco.MjData) -> None:
        """Put every liquid at the bottom of what it begins in, at rest; the bodies of `data` are where they should be.

        Raises:
            ValueError: a vessel does not take what is to be in it. Compiling has seen to that.
        """
        for name, pool in self.pools.items():
            vessel, body = self.vessel(pool.vessel)
            points = vessel.lattice(pool.points.stop - pool.points.start, self.solver.spacing)
            if points is None:
                raise ValueError(f"{name} does not fit into {pool.vessel}")
            self.solver.x[pool.points] = points @ data.xmat[body].reshape(3, 3).T + data.xpos[body]
        self.solver.v[:] = 0.0
        self._before = self._frames(data)
        data.xfrc_applied[self._owners] = 0.0
        self.mark(data)

    def _frames(self, data: mujoco.MjData) -> Frames:
        R = np.concatenate([data.geom_xmat[self._boxes], data.xmat[self._bodies]]).reshape(-1, 3, 3)
        p = np.concatenate([data.geom_xpos[self._boxes], data.xpos[self._bodies]])
        return Frames(R.astype(np.float32), p.astype(np.float32))

    def step(self, data: mujoco.MjData) -> None:
        """Advance by a physics step, between `mj_step1` and `mj_step2`; the push on bodies goes into `xfrc_applied`."""
        after = self._frames(data)
        load = self._advance(after, data.xipos[self._owners].astype(np.float32))
        pushed = np.zeros((self._model.nbody, 6))
        np.add.at(pushed, self._owners, load)
        force = np.linalg.norm(pushed[:, :3], axis=1, keepdims=True)
        data.xfrc_applied[:] = pushed * np.minimum(1.0, MOST_FORCE / np.maximum(force, MOST_FORCE))
        self._before = after

    def _advance(self, after: Frames, centers: Single) -> Float:
        solver, dt = self.solver, float(self._model.opt.timestep)
        x, v = solver.x, solver.v
        there = x[:, 2] > RETIRED / 2
        if there.all():
            load = solver.step(dt, self._before, after, centers)
        else:
            solver.x, solver.v = x[there], v[there]
            load = solver.step(dt, self._before, after, centers)
            x[there], v[there] = solver.x, solver.v
            solver.x, solver.v = x, v
        away = np.abs(x - self._middle).max(axis=1) > WORKSPACE
        if away.any():
            x[away], v[away] = (0.0, 0.0, RETIRED), 0.0
        return load

    def mark(self, data: mujoco.MjData) -> None:
        """Put every liquid's root to the middle of its points."""
        for name, pool in self.pools.items():
            points = self.points(name)
            points = points[points[:, 2] > RETIRED / 2]
            if len(points):
                data.mocap_pos[pool.mocap] = points.mean(axis=0)

    # ------------------------------------------------------------------ state

    def save(self) -> Float:
        """All that goes on from here: positions, velocities, the colliders' last frames; shape (size,)."""
        parts = (self.solver.x, self.solver.v, self._before.R, self._before.p)
        return np.concatenate([part.ravel() for part in parts]).astype(np.float64)

    def restore(self, state: Float) -> None:
        """Return to what `save` gave."""
        numbers, at = state.astype(np.float32), 0
        for part in (self.solver.x, self.solver.v, self._before.R, self._before.p):
            part.ravel()[:] = numbers[at : at + part.size]
            at += part.size

    # ------------------------------------------------------------------ look

    def points(self, item: str) -> Float:
        """World positions (n, 3) of a liquid's particles [m]; retired ones are far below the floor."""
        found: Float = self.solver.x[self.pools[item].points].astype(np.float64)
        return found

    def put(self, item: str, points: Float, data: mujoco.MjData) -> None:
        """Put a liquid's particles at world positions (n, 3) [m], at rest."""
        self.solver.x[self.pools[item].points] = points
        self.solver.v[self.pools[item].points] = 0.0
        self.mark(data)

    def retired(self, item: str) -> int:
        """How many of a liquid's particles have left the workspace."""
        return int((self.points(item)[:, 2] < RETIRED / 2).sum())

    def held_by(self, item: str, reference: str, data: mujoco.MjData) -> float:
        """Fraction of a liquid's particles that are inside a cavity named `item.cavity`."""
        vessel, body = self.vessel(reference)
        return float(vessel.holds((self.points(item) - data.xpos[body]) @ data.xmat[body].reshape(3, 3)).mean())

    def volume_in(self, reference: str, data: mujoco.MjData) -> float:
        """Volume [m3] of all liquids inside a cavity named `item.cavity`."""
        return sum(self.held_by(name, reference, data) * self._assets[name].mass / DENSITY for name in self.pools)

    def speed(self) -> float:
        """Root mean square speed [m/s] of the liveliest liquid."""
        speeds = (self.solver.v.astype(np.float64) ** 2).sum(axis=1)
        return max(float(np.sqrt(speeds[pool.points].mean())) for pool in self.pools.values())

    @property
    def finite(self) -> bool:
        """Whether all numbers are."""
        return bool(np.isfinite(self.solver.x).all() and np.isfinite(self.solver.v).all())


def _half(model: mujoco.MjModel, geom: int) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in model.geom_size[geom])
    return x, y, z
