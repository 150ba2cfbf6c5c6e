"""Drawing liquids: a mesh set aside in the model, filled with the liquid's present surface and uploaded before each picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import trimesh

from embodiedsmith.assets.colors import COLORS

if TYPE_CHECKING:
    from embodiedsmith.world.world import World

VERTICES, FEWEST, MOST = 5, 3_000, 20_000
"""Vertices set aside per particle, and their least and greatest number; there are twice as many faces."""
CLEAR = (0.25, 0.52, 0.88)
"""Of water without a colour of its own, as one sees it in a white bowl."""
OPACITY = 0.72
SPECULAR, SHININESS = 0.9, 0.9


def add_mesh(spec: Any, item: str, particles: int) -> None:
    """Set a mesh aside for the surface of a liquid, in a spec about to be compiled. No geom uses it: it touches nothing."""
    vertices = int(np.clip(VERTICES * particles, FEWEST, MOST))
    around = int(np.sqrt(vertices / 2))  # twice as many round the equator as from pole to pole
    ball = trimesh.creation.uv_sphere(count=[around, around])
    spec.add_mesh(
        name=_mesh(item),
        uservert=np.asarray(ball.vertices, dtype=np.float64).ravel(),
        usernormal=np.asarray(ball.vertices, dtype=np.float64).ravel(),
        userface=np.asarray(ball.faces, dtype=np.int32).ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )


def _mesh(item: str) -> str:
    return f"{item}/surface"


class LiquidPainter:
    """Draws the liquids of a world into the scenes of one renderer."""

    def __init__(self, world: World, renderer: mujoco.Renderer) -> None:
        assert world.liquids is not None
        self._world, self._liquids, self._renderer = world, world.liquids, renderer
        self._drawn: dict[str, bytes] = {}

    def add(self) -> None:
        """Add every liquid's surface, as it is now, to the renderer's scene, which has just been updated."""
        for item in self._liquids.pools:
            if self._upload(item):
                self._geom(item)

    def _upload(self, item: str) -> bool:
        """Make the mesh of the liquid's surface and hand it to the graphics; whether there is any of it."""
        from embodiedsmith.world.liquid.liquids import RETIRED
        from embodiedsmith.world.liquid.surface import surface

        points = self._liquids.solver.x[self._liquids.pools[item].points]
        points = points[points[:, 2] > RETIRED / 2]
        seen = points.tobytes()
        if self._drawn.get(item) == seen or not len(points):
            return bool(len(points))
        model = self._world.model
        mesh = model.mesh(_mesh(item)).id
        most_vertices = int(min(model.mesh_vertnum[mesh], model.mesh_normalnum[mesh]))
        most_faces = int(model.mesh_facenum[mesh])
        shape = surface(points, self._liquids.solver.spacing, most_vertices, most_faces)
        v, f, n = (int(at[mesh]) for at in (model.mesh_vertadr, model.mesh_faceadr, model.mesh_normaladr))
        model.mesh_vert[v : v + len(shape.vertices)] = shape.vertices
        model.mesh_normal[n : n + len(shape.normals)] = shape.normals
        for faces in (model.mesh_face, model.mesh_facenormal):
            faces[f : f + len(shape.faces)] = shape.faces
            faces[f + len(shape.faces) : f + most_faces] = 0  # triangles of no size
        self._renderer._gl_context.make_current()
        mujoco.mjr_uploadMesh(model, self._renderer._mjr_context, mesh)
        self._drawn[item] = seen
        return True

    def _geom(self, item: str) -> None:
        scene, world = self._renderer.scene, self._world
        geom = scene.geoms[scene.ngeom]
        color = world.scenario.scene.item(item).asset.color
        rgba = np.array([*(COLORS[color].rgba[:3] if color else CLEAR), OPACITY], dtype=np.float32)
        mujoco.mjv_initGeom(geom, mujoco.mjtGeom.mjGEOM_MESH, np.ones(3), np.zeros(3), np.eye(3).ravel(), rgba)
        geom.dataid = 2 * world.model.mesh(_mesh(item)).id
        geom.specular, geom.shininess = SPECULAR, SHININESS
        geom.objtype, geom.objid, geom.segid = mujoco.mjtObj.mjOBJ_BODY, world.items[item].body, scene.ngeom
        scene.ngeom += 1
