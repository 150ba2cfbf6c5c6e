"""An imported thing as a category: what the registry hands out beside those of the catalogue."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from embodiedsmith.assets import solids
from embodiedsmith.assets.asset import Affordances, Asset, Grasp, Support
from embodiedsmith.assets.category import Category, Params
from embodiedsmith.assets.colors import Language
from embodiedsmith.assets.fragment import VISUAL_GROUP, Fragment
from embodiedsmith.assets.imported import store
from embodiedsmith.assets.imported.hollows import Hollow, as_cavity
from embodiedsmith.assets.imported.store import Imported
from embodiedsmith.spec import AssetSpec, Pose

NOTHING = solids.Inertial(mass=0.0, com=np.zeros(3), inertia=np.zeros((3, 3)))


@lru_cache(maxsize=256)
def as_category(kept: Imported) -> Category:
    """The category of an imported thing. It comes in one size and as it looks; nobody gets it who does not name it."""
    record = kept.record
    words = record.words["en"]
    names: dict[Language, tuple[str, ...]] = {"en": words, "zh": record.words.get("zh") or words[:1]}
    return Category(
        name=kept.category,
        title=words[0].capitalize(),
        names=names,
        role="object",
        build=partial(_build, kept),
        colors=(record.color,),
        materials=(record.material,),
        sizes={"medium": 1.0},
        label=record.name,
        imported=True,
    )


def _build(kept: Imported, spec: AssetSpec, params: Params) -> Asset:
    record = kept.record
    looks, pieces = store.shapes(kept)
    fragment = Fragment(spec, color=record.color, material=record.material)
    inertial = inertial_of(record)
    for index, look in enumerate(looks):
        fragment.mesh("root", look.mesh, fragment.main, inertial=NOTHING if index else inertial)
    for piece in pieces:
        fragment.hull("root", piece, fragment.main)
    shown = [geom for geom in fragment.mjspec.body("root").geoms if geom.group == VISUAL_GROUP]
    for index, (geom, look) in enumerate(zip(shown, looks, strict=True)):
        name = f"look_{index}"
        fragment.mjspec.add_material(name=name, rgba=look.rgba, specular=0.3, shininess=0.4)
        geom.material = name
    return fragment.finish(_affordances(record))


def inertial_of(record: store.Record) -> solids.Inertial:
    """The mass properties that a record keeps."""
    xx, yy, zz, xy, xz, yz = record.inertia
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return solids.Inertial(mass=record.mass, com=np.array(record.com), inertia=inertia)


def _affordances(record: store.Record) -> Affordances:
    grasps = tuple(Grasp(body="root", pose=kept.pose, width=kept.width, kind=kept.kind) for kept in record.grasps)
    supports: tuple[Support, ...] = ()
    if (top := record.top) is not None:
        pose = Pose(position=top.center)
        supports = (Support(name="top", body="root", pose=pose, size=(top.width, top.width), shape="disc"),)
    if (hollow := record.hollow) is None:
        return Affordances(supports=supports, grasps=grasps)
    cavity, rim = as_cavity(
        Hollow(center=hollow.center, floor=hollow.floor, rim=hollow.rim, width=hollow.width, opening=hollow.opening)
    )
    return Affordances(supports=supports, cavities=(cavity,), grasps=grasps, rims=(rim,))
