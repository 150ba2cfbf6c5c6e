"""Charts as inline SVG, drawn from numbers alone: curves with bands, stacked bars. Colours are the page's (`--c0` to `--c9`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup, escape

WIDTH, HEIGHT = 520, 222
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 10, 38
COLORS = 10
T = TypeVar("T")
_STYLE = (
    "svg{font-family:system-ui,sans-serif;--c0:#2f6db5;--c1:#d9782d;--c2:#4a9a62;--c3:#a8487a;--c4:#7a62b8;--c5:#8a6d4b;--c6:#2c9aa3;"
    "--c7:#b9c1cc;--c8:#c9a227;--c9:#d1605e}text{font-size:11px;fill:#5d6878}.grid{stroke:#dde2e9}.line{fill:none;stroke-width:2}"
)
"""The page's colours, for pictures that stand alone."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line through points, left out where there is nothing to show."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    """Lower edge of the band about it; empty: no band."""
    high: Sequence[float | None] = ()
    color: int = 0
    dashed: bool = False
    stepped: bool = False
    """Whether a value holds until the next one."""


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    start: float
    """Pixel of `low`."""
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Pixel of a value, kept inside."""
        low, high, here = (math.log(max(v, 1e-12)) if self.log else v for v in (self.low, self.high, value))
        share = (here - low) / (high - low) if high > low else 0.5
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


def chart(
    curves: Sequence[Curve],
    *,
    low: float | None = 0.0,
    high: float | None = None,
    log_x: bool = False,
    log_y: bool = False,
    x_label: str = "round",
    x_ticks: Sequence[float] | None = None,
    y_ticks: Sequence[float] | None = None,
) -> Markup:
    """Curves over one horizontal axis with a legend. Numbers that are not finite are left out.

    Args:
        curves: What to draw; at most `COLORS` colours.
        low: Lower end of the vertical axis; None: the least value.
        high: Upper end; None: a round number above the greatest value.
        log_x: Whether the horizontal axis is logarithmic.
        log_y: Whether the vertical axis is logarithmic (then both ends are taken from the values).
        x_label: What the horizontal axis tells.
        x_ticks: Where it is marked; None: at up to nine of the values.
        y_ticks: Where the vertical axis is marked; None: at round numbers.
    """
    body = _curves(curves, low, high, log_x, log_y, x_label, x_ticks, y_ticks)
    if body is None:
        return Markup('<p class="soft">Nothing yet.</p>')
    return _svg(body) + _legend([(c.name, c.color, c.dashed) for c in curves])


def picture(
    curves: Sequence[Curve],
    *,
    title: str,
    low: float | None = 0.0,
    high: float | None = None,
    log_x: bool = False,
    x_label: str = "",
    x_ticks: Sequence[float] | None = None,
) -> str:
    """A chart as an SVG file of its own, with title and legend in it; see `chart`. Empty axes when there is nothing to show."""
    body = _curves(curves, low, high, log_x, False, x_label, x_ticks, None) or ""
    keys = ""
    for k, curve in enumerate(curves):
        at, dash = HEIGHT + 16 + 16 * k, ' stroke-dasharray="5 4"' if curve.dashed else ""
        keys += f'<path d="M{LEFT} {at - 4}h18" class="line"{dash} style="stroke:var(--c{curve.color % COLORS})"/>'
        keys += _text(LEFT + 26, at, str(escape(curve.name)), "start")
    head = f'<text x="{LEFT}" y="-8" style="font-size:13px;fill:#1c2430">{escape(title)}</text>'
    height = HEIGHT + 34 + 16 * len(curves)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -26 {WIDTH} {height}" width="{2 * WIDTH}" height="{2 * height}">'
        f'<style>{_STYLE}</style><rect x="0" y="-26" width="{WIDTH}" height="{height}" fill="#fff"/>{head}{body}{keys}</svg>\n'
    )


def _curves(
    curves: Sequence[Curve], low: float | None, high: float | None, log_x: bool, log_y: bool, x_label: str,
    x_ticks: Sequence[float] | None, y_ticks: Sequence[float] | None,
) -> str | None:  # fmt: skip
    """Axes and curves; None when there is nothing to show."""
    xs = sorted({float(v) for curve in curves for v in curve.x})
    values = [float(v) for c in curves for part in (c.y, c.low, c.high) for v in part if v is not None and math.isfinite(v)]
    if not xs or not values:
        return None
    x = _Axis(xs[0], xs[-1], LEFT + 6, WIDTH - RIGHT - 6, log_x)
    y, ticks = _vertical(values, low, high, log_y)
    marked = xs if x_ticks is None else [t for t in x_ticks if xs[0] <= t <= xs[-1]]
    body = _grid(y, ticks if y_ticks is None else y_ticks) + _along(x, marked, x_label)
    return body + "".join(_curve(curve, x, y) for curve in curves)


def bars(
    rounds: Sequence[int],
    parts: Sequence[Mapping[str, float]],
    names: Sequence[str],
    colors: Sequence[int] | None = None,
    unit: str = "",
) -> Markup:
    """Stacked bars, one a round.

    Args:
        rounds: Number under each bar.
        parts: How much of what each bar is made of.
        names: Kinds of parts, from below.
        colors: Colour of each; None: in their order.
        unit: Of the numbers, for their titles.
    """
    top = max((sum(part.get(name, 0.0) for name in names) for part in parts), default=0.0)
    if top <= 0.0:
        return Markup('<p class="soft">Nothing yet.</p>')
    shades = list(range(len(names))) if colors is None else list(colors)
    y, ticks = _vertical([top], 0.0, None, False)
    step = (WIDTH - LEFT - RIGHT) / len(rounds)
    body = _grid(y, ticks)
    every = math.ceil(len(rounds) / 16)
    for k, (number, part) in enumerate(zip(rounds, parts, strict=True)):
        base = 0.0
        for name, shade in zip(names, shades, strict=True):
            amount = part.get(name, 0.0)
            if amount > 0.0:
                above, below = y.at(base + amount), y.at(base)
                body += (
                    f'<rect x="{LEFT + k * step + 0.1 * step:.1f}" y="{above:.1f}" width="{0.8 * step:.1f}" '
                    f'height="{below - above:.1f}" style="fill:var(--c{shade % COLORS})">'
                    f"<title>round {number}: {escape(name)} {_plain(amount)}{escape(unit)}</title></rect>"
                )
            base += amount
        if k % every == 0:
            body += _text(LEFT + (k + 0.5) * step, HEIGHT - BOTTOM + 16, str(number), "middle")
    body += _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "round", "middle")
    return _svg(body) + _legend([(name, shade, False) for name, shade in zip(names, shades, strict=True)])


def spark(values: Sequence[float | None], low: float = 0.0, high: float = 1.0) -> str:
    """Values as one line of text: eight heights of bars, a dot where there is none."""
    heights = "▁▂▃▄▅▆▇█"
    span = high - low or 1.0
    return "".join(
        "·" if v is None or not math.isfinite(v) else heights[min(max(int((v - low) / span * 8), 0), 7)] for v in values
    )


def _vertical(values: Sequence[float], low: float | None, high: float | None, log: bool) -> tuple[_Axis, list[float]]:
    """The vertical axis and where it is marked."""
    if log:
        positive = [v for v in values if v > 0.0] or [1.0]
        first, last = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
        last = max(last, first + 1)
        every = max(1, math.ceil((last - first) / 5))
        return _Axis(10.0**first, 10.0**last, HEIGHT - BOTTOM, TOP, True), [10.0**k for k in range(first, last + 1, every)]
    least = min(values) if low is None else low
    most = max(values) if high is None else high
    step = _nice((most - least) / 4 or abs(most) / 4 or 0.25)
    if low is None:
        least = math.floor(least / step) * step
    if high is None:
        most = max(math.ceil(most / step - 1e-9) * step, least + step)
    count = math.floor((most - least) / step + 1e-9)
    return _Axis(least, most, HEIGHT - BOTTOM, TOP), [least + k * step for k in range(count + 1)]


def _nice(step: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= step - 1e-9 * power)


def _curve(curve: Curve, x: _Axis, y: _Axis) -> str:
    paint = f"var(--c{curve.color % COLORS})"
    body = _band(curve, x, y, paint)
    points = [(x.at(a), y.at(b)) if b is not None and math.isfinite(b) else None for a, b in zip(curve.x, curve.y, strict=True)]
    dash = ' stroke-dasharray="5 4"' if curve.dashed else ""
    for run in _runs(points):
        path = f"M{run[0][0]:.1f} {run[0][1]:.1f}"
        path += "".join(f"H{a:.1f}V{b:.1f}" if curve.stepped else f"L{a:.1f} {b:.1f}" for a, b in run[1:])
        body += f'<path d="{path}" class="line"{dash} style="stroke:{paint}"/>'
    for value, at, point in zip(curve.y, curve.x, points, strict=True):
        if point is not None and value is not None:
            about = f"<title>{escape(curve.name)}: {_plain(value)} at {_plain(at)}</title>"
            body += f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="2.6" style="fill:{paint}">{about}</circle>'
    return body


def _band(curve: Curve, x: _Axis, y: _Axis, paint: str) -> str:
    if not curve.low:
        return ""
    edges = [
        (x.at(a), y.at(lo), y.at(hi)) if lo is not None and hi is not None else None
        for a, lo, hi in zip(curve.x, curve.low, curve.high, strict=True)
    ]
    body = ""
    for run in _runs(edges):
        if len(run) == 1:  # a band of one point is a whisker
            a, lo, hi = run[0]
            body += f'<path d="M{a:.1f} {lo:.1f}V{hi:.1f}" class="line" style="stroke:{paint};opacity:0.4"/>'
            continue
        up = "L".join(f"{a:.1f} {hi:.1f}" for a, _, hi in run)
        down = "L".join(f"{a:.1f} {lo:.1f}" for a, lo, _ in reversed(run))
        body += f'<path d="M{up}L{down}Z" style="fill:{paint};opacity:0.16"/>'
    return body


def _runs(points: Sequence[T | None]) -> list[list[T]]:
    """Stretches without a gap."""
    runs: list[list[T]] = [[]]
    for point in points:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]


def _grid(y: _Axis, ticks: Sequence[float]) -> str:
    return "".join(
        f'<path d="M{LEFT} {y.at(t):.1f}H{WIDTH - RIGHT}" class="grid"/>' + _text(LEFT - 6, y.at(t) + 4, _plain(t), "end")
        for t in ticks
    )


def _along(x: _Axis, ticks: Sequence[float], label: str) -> str:
    every = math.ceil(len(ticks) / 9)
    chosen = list(ticks)[::every]
    marks = "".join(_text(x.at(t), HEIGHT - BOTTOM + 16, _plain(t), "middle") for t in chosen)
    return marks + _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, str(escape(label)), "middle")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _svg(body: str) -> Markup:
    return Markup(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{body}</svg>')


def _legend(entries: Sequence[tuple[str, int, bool]]) -> Markup:
    if not entries:
        return Markup("")
    keys = "".join(
        f'<span><i class="{"dash" if dashed else "full"}" style="border-color:var(--c{color % COLORS})"></i>{escape(name)}</span>'
        for name, color, dashed in entries
    )
    return Markup(f'<div class="legend">{keys}</div>')


def _plain(value: float) -> str:
    """Three significant digits without an exponent where a person can read it so."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
