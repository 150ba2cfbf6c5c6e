"""Surfaces of triangles: whether they are closed and wound outwards, and how to make them so."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import trimesh
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from embodiedsmith.assets.colors import Rgba

Float = NDArray[np.float64]
Int = NDArray[np.int64]
GREY: Rgba = (0.6, 0.6, 0.62, 1.0)


@dataclass(frozen=True)
class Surface:
    """Triangles of one part of a thing; edges that meet share their vertices."""

    name: str
    vertices: Float
    """Shape (n, 3) [m]."""
    faces: Int
    """Shape (m, 3), counter-clockwise seen from outside."""
    rgba: Rgba = GREY

    @classmethod
    def of(cls, name: str, vertices: Float, faces: Int, rgba: Rgba = GREY) -> Surface:
        """A surface with coincident vertices joined and faces without area left out."""
        joined = trimesh.Trimesh(np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64), process=True)
        triangles = np.asarray(joined.faces, dtype=np.int64)
        real = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
        return cls(name, np.asarray(joined.vertices, dtype=np.float64), triangles[real], rgba)

    def moved(self, rotation: Float, offset: Float) -> Surface:
        """This surface turned by a rotation matrix, then shifted by `offset` [m]."""
        return replace(self, vertices=self.vertices @ rotation.T + offset)

    def scaled(self, factor: float) -> Surface:
        """This surface, larger by a factor."""
        return replace(self, vertices=self.vertices * factor)

    @property
    def mesh(self) -> trimesh.Trimesh:
        """The same triangles as a `trimesh.Trimesh`."""
        return trimesh.Trimesh(self.vertices, self.faces, process=False)


@dataclass(frozen=True)
class Condition:
    """What is wrong with a surface; all zero and false: nothing."""

    open_edges: int
    """Edges with one face only."""
    crowded_edges: int
    """Edges with three faces or more."""
    reversed_faces: int
    """Faces wound against their neighbours."""
    inside_out: bool
    """Whether its outermost shells enclose a negative volume."""

    @property
    def closed(self) -> bool:
        """Whether its volume means something once it is wound outwards."""
        return not self.open_edges and not self.crowded_edges

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return self.closed and not self.reversed_faces and not self.inside_out


def examine(surface: Surface) -> Condition:
    """What is wrong with a surface."""
    _, counts = np.unique(_edges(surface.faces), axis=0, return_counts=True)
    flips = _flips(surface.faces)
    open_edges, crowded = int((counts == 1).sum()), int((counts > 2).sum())
    straight = _flipped(surface.faces, flips)
    inside_out = not open_edges and bool(_outward_flips(surface.vertices, straight).any())
    return Condition(open_edges, crowded, int(flips.sum()), inside_out)


def rewound(surface: Surface) -> Surface:
    """The surface with every face wound like its neighbours, and outwards where it is closed."""
    faces = _flipped(surface.faces, _flips(surface.faces))
    _, counts = np.unique(_edges(faces), axis=0, return_counts=True)
    if (counts != 1).all():
        faces = _flipped(faces, _outward_flips(surface.vertices, faces))
    return replace(surface, faces=faces)


def filled(surface: Surface) -> Surface:
    """The surface with a fan of triangles over each of its holes."""
    directed = _directed(surface.faces)
    _, owner, counts = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True, return_counts=True)
    following: dict[int, list[int]] = {}
    for start, end in directed[counts[owner.ravel()] == 1]:
        following.setdefault(int(end), []).append(int(start))  # the missing face runs against the edge it closes
    vertices, faces = [surface.vertices], [surface.faces]
    count = len(surface.vertices)
    for loop in _loops(following):
        vertices.append(surface.vertices[loop].mean(axis=0, keepdims=True))
        faces.append(np.array([(a, b, count) for a, b in zip(loop, [*loop[1:], loop[0]], strict=True)], dtype=np.int64))
        count += 1
    return replace(surface, vertices=np.concatenate(vertices), faces=np.concatenate(faces))


def shells(faces: Int) -> Int:
    """The connected piece of surface that each face belongs to, shape (m,), numbered from 0."""
    pairs, _ = _neighbours(faces)
    return _connected(len(faces), pairs)


def _loops(following: dict[int, list[int]]) -> list[list[int]]:
    """Closed walks along the given edges, none through a vertex twice: holes that touch in a vertex are cut apart there."""
    left = {start: sorted(ends, reverse=True) for start, ends in following.items()}
    loops: list[list[int]] = []
    for first in sorted(left):
        walk = [first]
        while ends := left.get(walk[-1]):
            at = ends.pop()
            if at not in walk:
                walk.append(at)
                continue
            start = walk.index(at)
            if len(walk) - start >= 3:
                loops.append(walk[start:])
            del walk[start + 1 :]
    return loops


def _directed(faces: Int) -> Int:
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])


def _edges(faces: Int) -> Int:
    return np.sort(_directed(faces), axis=1)


def _neighbours(faces: Int) -> tuple[Int, NDArray[np.bool_]]:
    """Pairs of faces that share an edge of two faces, shape (k, 2), and whether they run along it in the same direction."""
    directed = _directed(faces)
    owner = np.tile(np.arange(len(faces)), 3)
    keys = np.sort(directed, axis=1)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys, directed, owner = keys[order], directed[order], owner[order]
    first = np.flatnonzero((keys[1:] == keys[:-1]).all(axis=1))
    twice = np.ones(len(first), dtype=bool)
    for shift in (-1, 2):  # edges of three faces and more say nothing about direction
        at = first + shift
        inside = (at >= 0) & (at < len(keys))
        twice[inside] &= ~(keys[at[inside]] == keys[first[inside]]).all(axis=1)
    first = first[twice]
    pairs = np.stack([owner[first], owner[first + 1]], axis=1)
    return pairs, directed[first, 0] == directed[first + 1, 0]


def _connected(count: int, pairs: Int) -> Int:
    ones = np.ones(len(pairs), dtype=np.int8)
    graph = sparse.coo_matrix((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return np.asarray(csgraph.connected_components(graph, directed=False)[1], dtype=np.int64)


def _flips(faces: Int) -> NDArray[np.bool_]:
    """Which faces to turn over so that neighbours agree: in each shell the fewer ones."""
    pairs, against = _neighbours(faces)
    shell = _connected(len(faces), pairs)
    # Two copies of every face, as it is and turned over: what agrees hangs together.
    n = len(faces)
    same = pairs[~against]
    cross = pairs[against]
    links = np.concatenate([same, same + n, cross + np.array([0, n]), cross + np.array([n, 0])])
    side = _connected(2 * n, links)
    flip = np.zeros(n, dtype=bool)
    for number in np.flatnonzero(np.bincount(shell, weights=_touched(n, cross)) > 0):
        members = np.flatnonzero(shell == number)
        turned = side[members] != side[members[0]]
        flip[members] = turned if 2 * turned.sum() <= len(members) else ~turned
    return flip


def _touched(count: int, pairs: Int) -> Float:
    touched = np.zeros(count)
    touched[pairs.ravel()] = 1.0
    return touched


def _flipped(faces: Int, flip: NDArray[np.bool_]) -> Int:
    turned = faces.copy()
    turned[flip] = faces[flip][:, ::-1]
    return turned


def _outward_flips(vertices: Float, faces: Int) -> NDArray[np.bool_]:
    """Which faces of a closed surface to turn over so that its outermost shells enclose a positive volume.

    A shell inside another is a void of it, and turned over with it.
    """
    shell = shells(faces)
    count = int(shell.max()) + 1 if len(shell) else 0
    corners = vertices[faces]
    volumes = np.bincount(shell, weights=np.linalg.det(corners) / 6.0, minlength=count)
    low = np.array([corners[shell == k].min(axis=(0, 1)) for k in range(count)])
    high = np.array([corners[shell == k].max(axis=(0, 1)) for k in range(count)])
    flip = np.zeros(count, dtype=bool)
    for k in range(count):
        around = [j for j in range(count) if j != k and (low[j] < low[k]).all() and (high[j] > high[k]).all()]
        outermost = max(around, key=lambda j: float(np.prod(high[j] - low[j])), default=k)
        flip[k] = volumes[outermost] < 0
    return flip[shell]
