"""What things are made of: density and friction with their sources, and how they look."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Texture = Literal["wood", "speckle", "pores", "weave", "brushed"]


@dataclass(frozen=True, kw_only=True)
class Material:
    """A material. Densities and dry sliding frictions are rounded handbook values; see `source`."""

    name: str
    density: float
    """[kg/m^3]"""
    friction: float
    """Sliding friction coefficient against common dry surfaces; MuJoCo takes the larger of the two in contact."""
    color: str
    """Colour name when nothing else is asked."""
    source: str
    specular: float = 0.2
    shininess: float = 0.3
    texture: Texture | None = None


def _materials(*given: Material) -> dict[str, Material]:
    return {material.name: material for material in given}


_TOOLBOX = "engineeringtoolbox.com"
MATERIALS: dict[str, Material] = _materials(
    Material(name="wood", density=650, friction=0.45, color="beige", texture="wood", specular=0.1,
             source=f"beech 0.70, pine 0.51 g/cm3; wood on wood 0.25-0.5 ({_TOOLBOX})"),
    Material(name="chipboard", density=650, friction=0.45, color="white", specular=0.15,
             source="EN 312 particle board 600-720 kg/m3; melamine face as wood"),
    Material(name="stone", density=2700, friction=0.5, color="grey", texture="speckle", specular=0.4, shininess=0.6,
             source=f"granite 2.6-2.8 g/cm3 ({_TOOLBOX})"),
    Material(name="ceramic", density=2300, friction=0.45, color="white", specular=0.6, shininess=0.8,
             source="stoneware 2.2-2.5 g/cm3; glazed ceramic on wood about 0.45"),
    Material(name="glass", density=2500, friction=0.4, color="cyan", specular=0.8, shininess=0.9,
             source=f"soda-lime glass 2.5 g/cm3; glass on wood about 0.4 ({_TOOLBOX})"),
    Material(name="steel", density=7850, friction=0.4, color="silver", texture="brushed", specular=0.7, shininess=0.7,
             source=f"carbon steel 7.85 g/cm3; steel on wood 0.2-0.6 ({_TOOLBOX})"),
    Material(name="aluminium", density=2700, friction=0.4, color="silver", texture="brushed", specular=0.6, shininess=0.6,
             source=f"2.70 g/cm3 ({_TOOLBOX})"),
    Material(name="plastic", density=950, friction=0.35, color="blue", specular=0.4, shininess=0.5,
             source="polypropylene 0.90, polyethylene 0.95, ABS 1.05 g/cm3; on wood 0.3-0.4"),
    Material(name="fitted_unit", density=180, friction=0.45, color="white", specular=0.15,
             source="a closed kitchen base unit of 0.6 x 0.56 x 0.76 m weighs 40-50 kg: boards and the air between them"),
    Material(name="appliance", density=320, friction=0.4, color="white", specular=0.5, shininess=0.6,
             source="walls of microwaves (20 l, 11 kg) and small fridges (100 l, 35-40 kg): sheet metal, foam and air"),
    Material(name="cardboard", density=690, friction=0.5, color="brown", specular=0.02,
             source=f"cardboard 0.69 g/cm3 ({_TOOLBOX})"),
    Material(name="paper", density=750, friction=0.45, color="white", specular=0.02,
             source="book paper 0.7-0.85 g/cm3 (ISO 534 bulk 1.2-1.4 cm3/g)"),
    Material(name="wicker", density=450, friction=0.5, color="brown", texture="weave", specular=0.05,
             source="willow 0.40-0.45 g/cm3; woven walls taken as solid"),
    Material(name="foam", density=100, friction=0.7, color="yellow", texture="pores", specular=0.0,
             source="dry cellulose sponge 60-120 kg/m3"),
    Material(name="cotton", density=200, friction=0.6, color="white", texture="weave", specular=0.0, shininess=0.0,
             source="terry 300-600 g/m2 at 1.5-3 mm, woven cotton 150-250 g/m2 at 1 mm; cotton on wood about 0.6"),
    Material(name="plush", density=150, friction=0.8, color="pink", texture="pores", specular=0.0,
             source="polyester wadding 20-60 kg/m3 in a cover of 400 g/m2, rattle and label: soft cubes of 5-9 cm weigh 25-80 g"),
    Material(name="fruit", density=850, friction=0.5, color="red", specular=0.35, shininess=0.5,
             source="apple 0.80-0.87 g/cm3 (Mohsenin, Physical Properties of Plant and Animal Materials)"),
    Material(name="bean", density=1250, friction=0.4, color="beige", specular=0.2,
             source="soy beans and chickpeas 1.2-1.3 g/cm3; on steel and wood 0.3-0.5 (Mohsenin)"),
    Material(name="citrus", density=950, friction=0.5, color="yellow", specular=0.25, texture="speckle",
             source="lemon and orange 0.93-0.98 g/cm3 (Mohsenin)"),
    Material(name="liquid", density=1000, friction=0.0, color="blue", specular=0.9, shininess=0.9,
             source="water at 4 degrees: 1.000 g/cm3; between a liquid and a wall there is no dry friction"),
)  # fmt: skip
"""Every material the catalogue knows, by its name in an `AssetSpec`."""

TEXTURE_SIZE = 128
TEXTURE_REPEATS: dict[Texture, tuple[float, float]] = {
    "wood": (4.0, 20.0),
    "speckle": (1.0, 1.0),
    "pores": (12.0, 12.0),
    "weave": (8.0, 8.0),
    "brushed": (4.0, 20.0),
}
"""How often a pattern repeats in a metre along each direction of a face."""


@cache
def texture_pixels(kind: Texture) -> NDArray[np.uint8]:
    """A tileable grey pattern, shape (128, 128, 3), to be multiplied with a colour; the same at every call."""
    n = TEXTURE_SIZE
    rng = np.random.default_rng([ord(letter) for letter in kind])
    match kind:
        case "wood":
            grain = _noise(rng, n, stretch=(1.0, 9.0))
            pattern = 0.84 + 0.10 * np.sin(2 * np.pi * 5 * grain) + 0.06 * _noise(rng, n, stretch=(1.0, 30.0))
        case "speckle" | "pores":
            pattern = 0.72 + 0.28 * rng.random((n, n)) ** 0.35
        case "weave":
            row, column = np.mgrid[0:n, 0:n] / n * 8
            over = (np.floor(row) + np.floor(column)) % 2
            pattern = 0.55 + 0.45 * np.where(over > 0, np.abs(np.sin(np.pi * row)), np.abs(np.sin(np.pi * column)))
        case "brushed":
            pattern = 0.86 + 0.14 * _noise(rng, n, stretch=(1.0, 60.0))
    grey = np.clip(pattern * 255, 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _noise(rng: np.random.Generator, n: int, *, stretch: tuple[float, float]) -> NDArray[np.float64]:
    """Tileable 1/f noise in [0, 1], drawn out along the axis of the smaller stretch."""
    frequency = np.hypot(np.fft.fftfreq(n)[:, None] * stretch[0], np.fft.fftfreq(n)[None, :] * stretch[1])
    frequency[0, 0] = 1.0
    noise = np.fft.ifft2(np.fft.fft2(rng.standard_normal((n, n))) / frequency**1.6).real
    noise -= noise.min()
    return np.asarray(noise / noise.max(), dtype=np.float64)
