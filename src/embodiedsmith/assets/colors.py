"""Colours people name, in English and Chinese, and what they look like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
