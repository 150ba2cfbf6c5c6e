"""Colours people name, in English and Chinese, and what they look like."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Rgba = tuple[float, float, float, float]
Language = Literal["en", "zh"]


@dataclass(frozen=True, kw_only=True)
class Color:
    """A colour: red, green, blue, opacity in [0, 1] (sRGB) and its words; the first word is the preferred one."""

    rgba: Rgba
    names: dict[Language, tuple[str, ...]]


def _color(red: float, green: float, blue: float, en: tuple[str, ...], zh: tuple[str, ...]) -> Color:
    return Color(rgba=(red, green, blue, 1.0), names={"en": en, "zh": zh})


COLORS: dict[str, Color] = {
    "red": _color(0.80, 0.10, 0.10, ("red", "crimson", "scarlet"), ("红色", "红", "红色的")),
    "green": _color(0.15, 0.58, 0.20, ("green",), ("绿色", "绿", "绿色的")),
    "blue": _color(0.12, 0.30, 0.78, ("blue",), ("蓝色", "蓝", "蓝色的")),
    "yellow": _color(0.95, 0.80, 0.12, ("yellow",), ("黄色", "黄", "黄色的")),
    "orange": _color(0.95, 0.48, 0.08, ("orange",), ("橙色", "橙", "橘色", "橙色的")),
    "purple": _color(0.48, 0.20, 0.62, ("purple", "violet"), ("紫色", "紫", "紫色的")),
    "pink": _color(0.95, 0.55, 0.68, ("pink",), ("粉色", "粉红色", "粉", "粉红", "粉色的")),
    "brown": _color(0.45, 0.28, 0.14, ("brown",), ("棕色", "褐色", "棕", "咖啡色", "棕色的")),
    "black": _color(0.09, 0.09, 0.10, ("black",), ("黑色", "黑", "黑色的")),
    "white": _color(0.93, 0.92, 0.89, ("white",), ("白色", "白", "白色的")),
    "grey": _color(0.52, 0.53, 0.55, ("grey", "gray"), ("灰色", "灰", "灰色的")),
    "silver": _color(0.74, 0.75, 0.77, ("silver", "metallic"), ("银色", "银", "银色的")),
    "beige": _color(0.84, 0.76, 0.62, ("beige", "cream"), ("米色", "米黄色", "米色的")),
    "cyan": _color(0.10, 0.66, 0.70, ("cyan", "turquoise", "teal"), ("青色", "青", "蓝绿色", "青色的")),
}
"""Every colour the catalogue knows, by its name in an `AssetSpec`."""
SIMILAR = 25.0
"""Distance in CIELAB [-] below which a thing is hard to make out before a surface."""


def similar(one: str, other: str) -> bool:
    """Whether a thing of the one colour is hard to make out on the other, in shade and at 128 x 128 pixels."""
    return float(np.linalg.norm(_lab(one) - _lab(other))) < SIMILAR


@cache
def _lab(name: str) -> NDArray[np.float64]:
    """A colour in CIELAB (1976), white point D65; from sRGB as in IEC 61966-2-1."""
    encoded = np.array(COLORS[name].rgba[:3])
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    relative = to_xyz @ linear / to_xyz.sum(axis=1)
    x, y, z = np.where(relative > (6 / 29) ** 3, np.cbrt(relative), relative / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
