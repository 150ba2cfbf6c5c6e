"""Builds a MuJoCo fragment: each solid added gives its looks, its collision shape and its mass at once.

Visible geoms are in group 2 and touch nothing; collision geoms are in group 3 and are not drawn by default. Masses are
set on the bodies from the solids added, never guessed by the compiler from collision shapes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from embodiedsmith.assets import solids
from embodiedsmith.assets.asset import Affordances, Asset, JointInfo
from embodiedsmith.assets.colors import COLORS
from embodiedsmith.assets.materials import MATERIALS, TEXTURE_REPEATS, TEXTURE_SIZE, Material, Texture, texture_pixels
from embodiedsmith.spec import AssetSpec, Vec3

VISUAL_GROUP = 2
COLLISION_GROUP = 3
STIFFNESS = (0.01, 1.0)
"""Time constant [s] and damping ratio of contacts: the stiffest that a physics step of 1/240 s resolves (over two steps). With
MuJoCo's own 0.02 s a knife that falls 6 cm sinks 8 mm into what it falls on, and is pushed out on the other side."""
TORSIONAL_FRICTION = 0.005
"""[m] MuJoCo's default, about the radius of a contact patch of 1 cm."""
ROLLING_FRICTION = 0.002
"""[m] Keeps a fruit of 35 mm radius still on slopes below 3 degrees: fruits are not perfectly round."""
CLEARANCE = 3e-4
"""[m] How far above what a thing stands on its walls begin to be touched, so that its base alone carries it: a flat box or disc
makes four contacts and sinks in by 0.06 mm, walls all round it made sixty-four more, which took most of the time of a step."""
IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Finish:
    """A material in a colour."""

    material: Material
    color: str

    @classmethod
    def of(cls, material: str, color: str | None = None) -> Finish:
        """The material of that name, in its own colour unless another is given."""
        chosen = MATERIALS[material]
        return cls(material=chosen, color=color or chosen.color)


class Fragment:
    """An asset under construction. Bodies are known by name; the first is `root`."""

    def __init__(self, spec: AssetSpec, *, color: str, material: str) -> None:
        """`color` and `material` are used for the main part when the spec names none."""
        self.spec = spec
        self.main = Finish.of(spec.material or material, spec.color or color)
        self.mjspec: Any = mujoco.MjSpec()
        self.mjspec.compiler.degree = False
        self.mjspec.modelname = spec.category
        self._bodies: dict[str, Any] = {"root": self.mjspec.worldbody.add_body(name="root")}
        self._offsets: dict[str, NDArray[np.float64]] = {"root": np.zeros(3)}
        self._parts: dict[str, list[solids.Inertial]] = {"root": []}
        self._looks: dict[str, str] = {}
        self._corners: list[NDArray[np.float64]] = []
        self._joints: dict[str, JointInfo] = {}
        self._count = 0

    # Bodies and joints

    def body(self, name: str, pos: ArrayLike) -> str:
        """Add a child of the root at `pos` [m] in the root's frame, which is the contact partner of neither it nor its kin.

        Parts of one asset are guided by their joints; contact between them would only make them jam.
        """
        for other in self._bodies:
            self.mjspec.add_exclude(name=f"{other}_{name}", bodyname1=other, bodyname2=name)
        self._bodies[name] = self._bodies["root"].add_body(name=name, pos=np.asarray(pos, dtype=np.float64))
        self._offsets[name] = np.asarray(pos, dtype=np.float64)
        self._parts[name] = []
        return name

    def joint(
        self, body: str, kind: Literal["slide", "hinge"], *, axis: Vec3, travel: float, damping: float, friction: float
    ) -> None:
        """Give a body a joint of its own name, closed at 0 and open at `travel` [m or rad].

        `damping` is in N s/m or N m s/rad, `friction` (dry) in N or N m.
        """
        kinds = {"slide": mujoco.mjtJoint.mjJNT_SLIDE, "hinge": mujoco.mjtJoint.mjJNT_HINGE}
        self._bodies[body].add_joint(
            name=body,
            type=kinds[kind],
            axis=axis,
            range=[0.0, travel],
            limited=mujoco.mjtLimited.mjLIMITED_TRUE,
            damping=[damping, 0, 0],
            frictionloss=friction,
            armature=0.01,
        )
        self._joints[body] = JointInfo(name=body, kind=kind, closed=0.0, open=travel)

    # Solids

    def box(
        self,
        body: str,
        size: ArrayLike,
        pos: ArrayLike,
        finish: Finish,
        *,
        quat: ArrayLike = IDENTITY,
        visible: bool = True,
        collides: bool = True,
        density: float | None = None,
        raised: float = 0.0,
    ) -> None:
        """A box of full extents `size` [m] centred at `pos` [m]. `density` [kg/m^3] defaults to the material's.

        `raised`: what is touched of it begins so far [m] above its lower face along the box's own z axis.
        """
        turn = solids.rotation(quat)
        half = np.asarray(size, dtype=np.float64) / 2
        self._add_mass(body, solids.box_inertial(size, self._density(finish, density), pos, turn))
        middle = np.asarray(pos, dtype=np.float64)
        self._grow(body, middle, np.abs(turn) @ half)
        shape = {"type": mujoco.mjtGeom.mjGEOM_BOX, "size": half, "pos": middle, "quat": np.asarray(quat, dtype=np.float64)}
        up = np.array([0.0, 0.0, raised / 2])
        self._primitive(body, finish, visible, False, **shape)
        self._primitive(body, finish, False, collides, **(shape | {"size": half - up, "pos": middle + turn @ up}))

    def cylinder(
        self,
        body: str,
        start: ArrayLike,
        end: ArrayLike,
        radius: float,
        finish: Finish,
        *,
        visible: bool = True,
        collides: bool = True,
        density: float | None = None,
        rolls: bool = False,
    ) -> None:
        """A cylinder from the centre of one end to that of the other [m]. `rolls`: give it rolling friction."""
        axis, length, middle = _segment(start, end)
        self._add_mass(body, solids.cylinder_inertial(radius, length, self._density(finish, density), middle, axis))
        self._grow(body, middle, np.abs(axis) * length / 2 + radius * np.sqrt(np.maximum(0, 1 - axis**2)))
        self._primitive(
            body,
            finish,
            visible,
            collides,
            rolls,
            type=mujoco.mjtGeom.mjGEOM_CYLINDER,
            size=[radius, 0, 0],
            fromto=[*np.asarray(start, dtype=np.float64), *np.asarray(end, dtype=np.float64)],
        )

    def capsule(
        self,
        body: str,
        start: ArrayLike,
        end: ArrayLike,
        radius: float,
        finish: Finish,
        *,
        visible: bool = True,
        collides: bool = True,
        density: float | None = None,
        rolls: bool = False,
    ) -> None:
        """A capsule between the centres of its two end balls [m]."""
        axis, length, middle = _segment(start, end)
        self._add_mass(body, solids.capsule_inertial(radius, length, self._density(finish, density), middle, axis))
        self._grow(body, middle, np.abs(axis) * length / 2 + radius)
        self._primitive(
            body,
            finish,
            visible,
            collides,
            rolls,
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            size=[radius, 0, 0],
            fromto=[*np.asarray(start, dtype=np.float64), *np.asarray(end, dtype=np.float64)],
        )

    def sphere(
        self,
        body: str,
        pos: ArrayLike,
        radius: float,
        finish: Finish,
        *,
        visible: bool = True,
        collides: bool = True,
        density: float | None = None,
        rolls: bool = False,
    ) -> None:
        """A ball."""
        self._add_mass(body, solids.sphere_inertial(radius, self._density(finish, density), pos))
        self._grow(body, np.asarray(pos, dtype=np.float64), np.full(3, radius))
        self._primitive(
            body,
            finish,
            visible,
            collides,
            rolls,
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[radius, 0, 0],
            pos=np.asarray(pos, dtype=np.float64),
        )

    def mesh(self, body: str, mesh: Any, finish: Finish, *, inertial: solids.Inertial | None = None) -> None:
        """A visible `trimesh.Trimesh` in the body's frame; it has the mass of its volume unless `inertial` says better."""
        self._add_mass(body, inertial or solids.mesh_inertial(mesh, finish.material.density))
        low, high = np.asarray(mesh.bounds, dtype=np.float64)
        self._grow(body, (low + high) / 2, (high - low) / 2)
        name = self._name("mesh")
        self.mjspec.add_mesh(
            name=name,
            uservert=np.asarray(mesh.vertices, dtype=np.float64).ravel(),
            userface=np.asarray(mesh.faces, dtype=np.int32).ravel(),
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
        )
        self._geom(body, VISUAL_GROUP, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=self._look(finish))

    def hull(self, body: str, points: NDArray[np.float64], finish: Finish) -> None:
        """An invisible, massless collision shape: the convex hull of `points` [m], shape (n, 3)."""
        name = self._name("hull")
        self.mjspec.add_mesh(name=name, uservert=np.asarray(points, dtype=np.float64).ravel())
        self._collider(body, finish, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)

    def contents(self, body: str, mass: float, *, center: ArrayLike, radius: float, height: float) -> None:
        """Mass [kg] of what fills a closed vessel, as an upright cylinder that is neither seen nor touched."""
        density = mass / (np.pi * radius**2 * height)
        self._add_mass(body, solids.cylinder_inertial(radius, height, density, center, (0.0, 0.0, 1.0)))

    def look(self, finish: Finish) -> str:
        """Name of the fragment's render material for a finish, made when it is not there yet."""
        return self._look(finish)

    # The end

    def finish(self, affordances: Affordances, *, fixed: bool = False) -> Asset:
        """Set the mass properties of all bodies and return the asset."""
        for name, body in self._bodies.items():
            sum_of_parts = solids.total(self._parts[name])
            inertia = sum_of_parts.inertia
            body.mass = sum_of_parts.mass
            body.ipos = sum_of_parts.com
            body.fullinertia = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
            body.explicitinertial = True
        corners = np.asarray(self._corners)
        low, high = corners[:, 0].min(axis=0), corners[:, 1].max(axis=0)
        return Asset(
            spec=self.spec,
            mjspec=self.mjspec,
            mass=float(sum(part.mass for parts in self._parts.values() for part in parts)),
            extents=(_vec(low), _vec(high)),
            affordances=affordances,
            joints=dict(self._joints),
            fixed=fixed,
        )

    def loose(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> Asset:
        """The asset, when nothing was added to it through this class: a massless root; everything else was hung on it."""
        return Asset(spec=self.spec, mjspec=self.mjspec, mass=0.0, extents=(_vec(low), _vec(high)), affordances=Affordances())

    # Details

    def _density(self, finish: Finish, density: float | None) -> float:
        return finish.material.density if density is None else density

    def _add_mass(self, body: str, part: solids.Inertial) -> None:
        if part.mass > 0:
            self._parts[body].append(part)

    def _grow(self, body: str, center: NDArray[np.float64], half: NDArray[np.float64]) -> None:
        middle = self._offsets[body] + center
        self._corners.append(np.array([middle - half, middle + half]))

    def _name(self, what: str) -> str:
        self._count += 1
        return f"{what}_{self._count}"

    def _primitive(self, body: str, finish: Finish, visible: bool, collides: bool, rolls: bool = False, **shape: Any) -> None:
        if visible:
            flat = shape["type"] == mujoco.mjtGeom.mjGEOM_BOX
            self._geom(body, VISUAL_GROUP, material=self._look(finish, flat=flat), **shape)
        if collides:
            self._collider(body, finish, rolls=rolls, **shape)

    def _collider(self, body: str, finish: Finish, *, rolls: bool = False, **shape: Any) -> None:
        friction = [finish.material.friction, TORSIONAL_FRICTION, ROLLING_FRICTION if rolls else 0.0001]
        rgba = COLORS[finish.color].rgba
        self._geom(body, COLLISION_GROUP, condim=6 if rolls else 4, friction=friction, solref=STIFFNESS, rgba=rgba, **shape)

    def _geom(self, body: str, group: int, **shape: Any) -> None:
        if group == VISUAL_GROUP:
            shape |= {"contype": 0, "conaffinity": 0}
        self._bodies[body].add_geom(group=group, mass=0.0, **shape)

    def _look(self, finish: Finish, *, flat: bool = False) -> str:
        name = f"{finish.material.name}_{finish.color}"
        cube = finish.material.texture in ("speckle", "pores") and not flat
        if cube:
            name += ".round"
        if name not in self._looks:
            look = self.mjspec.add_material(
                name=name, rgba=COLORS[finish.color].rgba, specular=finish.material.specular, shininess=finish.material.shininess
            )
            if finish.material.texture is not None:
                self._texture(finish.material.texture, look, cube=cube)
            self._looks[name] = name
        return name

    def _texture(self, kind: Texture, look: Any, *, cube: bool) -> None:
        # Round things need a cube map; on flat ones it shows a star in the middle of each face.
        name = f"texture_{kind}{'_round' if cube else ''}"
        if all(texture.name != name for texture in self.mjspec.textures):
            faces = 6 if cube else 1
            texture = self.mjspec.add_texture(
                name=name,
                type=mujoco.mjtTexture.mjTEXTURE_CUBE if cube else mujoco.mjtTexture.mjTEXTURE_2D,
                width=TEXTURE_SIZE,
                height=faces * TEXTURE_SIZE,
                nchannel=3,
            )
            texture.data = np.tile(texture_pixels(kind), (faces, 1, 1)).tobytes()
        textures = look.textures
        textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
        look.textures = textures
        look.texuniform = True
        look.texrepeat = TEXTURE_REPEATS[kind]


def _segment(start: ArrayLike, end: ArrayLike) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
    """Unit axis, length and middle of a segment."""
    a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(b - a))
    return (b - a) / length, length, (a + b) / 2


def _vec(values: Iterable[float]) -> Vec3:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
