"""Pictures of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from embodiedsmith.assets.asset import Asset
from embodiedsmith.assets.registry import build, categories, category
from embodiedsmith.spec import AssetSpec

CAPTION = 34
"""Height of the strip under each picture [pixels]."""
FOVY = 30.0
"""Vertical field of view [degrees]."""


def gallery(
    path: Path | str, *, specs: Iterable[AssetSpec] | None = None, tile: int = 240, columns: int = 6, opening: float = 0.0
) -> Path:
    """Write a contact sheet of assets as a PNG, each with its name, size and mass.

    Args:
        path: file to write.
        specs: what to show; None: every category as it comes.
        tile: width and height of one picture [pixels].
        columns: pictures in a row.
        opening: how far drawers and doors stand open, 0 closed to 1 open.

    Returns:
        The path written.
    """
    shown = [AssetSpec(category=name) for name in categories()] if specs is None else list(specs)
    rows = -(-len(shown) // columns)
    sheet = Image.new("RGB", (columns * tile, rows * (tile + CAPTION)), "white")
    draw = ImageDraw.Draw(sheet)
    for index, spec in enumerate(shown):
        asset = build(spec)
        corner = (index % columns * tile, index // columns * (tile + CAPTION))
        sheet.paste(Image.fromarray(picture(asset, size=tile, opening=opening)), corner)
        dimensions = " x ".join(f"{100 * side:.0f}" for side in asset.size)
        text = f"{category(spec.category).title}\n{dimensions} cm, {asset.mass:.2f} kg"
        draw.multiline_text((corner[0] + 8, corner[1] + tile + 3), text, fill="black", spacing=2)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(target)
    return target


def picture(
    asset: Asset, *, size: int = 240, opening: float = 0.0, azimuth: float = 215.0, elevation: float = -28.0
) -> NDArray[np.uint8]:
    """Render one asset from its front and above, filling a square picture, shape (size, size, 3).

    `opening` is a fraction for all its joints; `azimuth` and `elevation` are MuJoCo's camera angles [degrees].
    """
    scene = _studio(asset)
    model = scene.compile()
    data = mujoco.MjData(model)
    for joint in asset.joints.values():
        data.joint(f"shown/{joint.name}").qpos = joint.closed + opening * (joint.open - joint.closed)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    low, high = (np.asarray(corner) for corner in asset.extents)
    camera.lookat[:] = (low + high) / 2
    radius = float(np.linalg.norm(high - low)) / 2 * (1.0 + 0.35 * opening * bool(asset.joints))
    camera.distance = 1.05 * radius / np.sin(np.radians(FOVY / 2))
    camera.azimuth, camera.elevation = azimuth, elevation
    with mujoco.Renderer(model, height=size, width=size) as renderer:
        renderer.update_scene(data, camera)
        return np.asarray(renderer.render().copy(), dtype=np.uint8)


def _studio(asset: Asset) -> mujoco.MjSpec:
    """A pale floor and two lights."""
    scene = mujoco.MjSpec()
    scene.visual.global_.fovy = FOVY
    scene.visual.headlight.ambient = [0.35, 0.35, 0.35]
    scene.visual.headlight.diffuse = [0.35, 0.35, 0.35]
    scene.visual.map.znear = 0.01
    scene.stat.extent = 1.0
    scene.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=[0.93, 0.94, 0.95],
        rgb2=[0.93, 0.94, 0.95],
        width=8,
        height=48,
    )
    scene.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20, 20, 0.1], rgba=[0.90, 0.90, 0.90, 1])
    scene.worldbody.add_light(
        pos=[1.5, -1.0, 3.0], dir=[-0.4, 0.25, -0.9], diffuse=[0.5, 0.5, 0.5], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    )
    scene.attach(build(asset.spec).mjspec, prefix="shown/", frame=scene.worldbody.add_frame())
    return scene
