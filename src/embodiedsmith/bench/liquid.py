"""Is the liquid true, quick enough and poured well? A closed cup held still, shaken and turned over; pours by the robot.

Times are the processor's own (all threads of the process): other work beside slows the clock on the wall, not them, or little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embodiedsmith.episodes.staging import attempt_rng
from embodiedsmith.forge.loop import forge
from embodiedsmith.motion import demonstrate
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import AssetSpec, Brief, Predicate, Scenario
from embodiedsmith.tasks import Recording, Session
from embodiedsmith.world import World
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.errors import CompileError
from embodiedsmith.world.liquid.grid import Float, distance_grid
from embodiedsmith.world.liquid.solver import GRAVITY, Collider, CpuSolver, Frames
from embodiedsmith.world.render import WorldRenderer

DT = 1.0 / 240.0
RADIUS, HEIGHT, FILL = 0.04, 0.10, 0.065
"""[m] of the closed cup, and of the water in it."""
STILL = Frames(np.eye(3, dtype=np.float32)[None], np.array([[0.0, 0.0, 0.3]], np.float32))
CENTER = np.zeros((1, 3), np.float32)
SHAKE = (0.05, 20.0)
"""Amplitude [m] and angular frequency [rad/s]: 1 m/s and 20 m/s2."""
OVER = 1.5  # [s] in which the cup is turned upside down, over and over
MOTIONS = ("still", "shaken", "turned")
WALL, THIN = 0.003, 0.0025
"""[m] thinnest wall that holds, and one that is refused."""
FINE, FINER = 2000, 4000
"""Particles at which the solver's speed is told."""
ALL, HALF = "pour the water from the jug into the bowl", "pour half of the water from the jug into the bowl"
SIZE = (640, 480)
FRAMES = 30


class ClosedCup:
    """Water in a round cup with a lid, which is carried about by hand.

    Args:
        wall: Thickness of its walls, floor and lid [m].
        count: Particles.
    """

    def __init__(self, wall: float, count: int) -> None:
        grid = distance_grid(_pieces(wall))
        half = np.pi / 16
        inner = (RADIUS - wall) * 2 / (1 + np.cos(half))
        volume = 16 * np.sin(half) * np.cos(half) * inner**2 * FILL
        spacing = (volume / count) ** (1 / 3)
        axis = np.arange(-40, 41) * spacing
        up = wall + (0.6 + np.arange(60)) * spacing
        z, x, y = np.meshgrid(up, axis, axis, indexing="ij")
        points = np.stack([x, y, z], axis=-1).reshape(-1, 3)
        points = points[(grid.at(points) > 0.52 * spacing) & (np.hypot(points[:, 0], points[:, 1]) < inner)][:count]
        points = points + 0.05 * spacing * np.sin(np.arange(3 * count).reshape(-1, 3) ** 2)
        self.wall, self.inner, self.count = wall, inner, count
        self.weight = 1000.0 * volume * GRAVITY
        self.solver = CpuSolver(points + STILL.p[0], spacing, 1000.0 * volume / count, [Collider(grid)])
        self.frames, self.steps = STILL, 0

    def run(self, seconds: float, motion: str = "still") -> Float:
        """Let time pass under one of `MOTIONS`; gives the force on the cup at each step, shape (n, 3) [N]."""
        forces = []
        for _ in range(round(seconds / DT)):
            self.steps += 1
            after = _moved(motion, self.steps * DT)
            forces.append(self.solver.step(DT, self.frames, after, CENTER)[0, :3])
            self.frames = after
        return np.array(forces)

    def inside(self) -> NDArray[np.bool_]:
        """Which particles (n,) are in the room of the cup."""
        local = (self.solver.x - self.frames.p[0]) @ self.frames.R[0]
        wide = np.hypot(local[:, 0], local[:, 1]) < self.inner + self.wall / 2
        found: NDArray[np.bool_] = wide & (local[:, 2] > self.wall / 2) & (local[:, 2] < HEIGHT - self.wall / 2)
        return found

    def level(self) -> float:
        """Height of the water over the floor of the cup at rest [m]: half a particle above the middles of the uppermost."""
        heights = np.sort(self.solver.x[:, 2] - STILL.p[0, 2])
        return float(heights[-len(heights) // 40 :].mean()) + self.solver.spacing / 2 - self.wall


def _pieces(wall: float) -> list[Float]:
    """Convex pieces of the cup, its foot at the origin."""
    half = np.pi / 16
    grow = 2 / (1 + np.cos(half))
    wedges = [
        np.array(
            [
                (r * grow * np.cos(2 * half * k + s * half), r * grow * np.sin(2 * half * k + s * half), z)
                for z in (0.0, HEIGHT)
                for r in (RADIUS, RADIUS - wall)
                for s in (-1, 1)
            ]
        )
        for k in range(16)
    ]
    angle = np.arange(32) * np.pi / 16
    ring = RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    discs = [
        np.concatenate([np.column_stack([ring, np.full(32, z)]) for z in between])
        for between in ((0, wall), (HEIGHT - wall, HEIGHT))
    ]
    return [*wedges, *discs]


def _moved(motion: str, t: float) -> Frames:
    """Where the cup is at a time [s]."""
    if motion == "shaken":
        return Frames(STILL.R, STILL.p + np.array([SHAKE[0] * np.sin(SHAKE[1] * t), 0, 0], np.float32))
    if motion == "turned":
        turned = tf.turn((0.0, 1.0, 0.0), np.pi * t / OVER)[:3, :3]
        return Frames(turned[None].astype(np.float32), STILL.p)
    return STILL


def measure(
    *, pours: int = 5, seconds: float = 20.0, seed: int = 0, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Measure everything.

    Args:
        pours: Scenes forged for a full pour, and as many for half a pour; the robot pours once in each, from fresh draws.
        seconds: Simulated seconds for which the closed cup is held still, shaken, turned over and over.
        seed: Of the first scene.
        say: Told of every part.

    Returns:
        `closed_cup`, `pours`, `refused` (what is said to thin walls), `replay` and `frame_ms`; keys are told in
        benchmarks/README.md.
    """
    closed = _closed(seconds, say)
    poured: dict[str, Any] = {}
    last: _Pour | None = None
    for name, text, share in (("half", HALF, 0.5), ("full", ALL, 1.0)):
        made = [found for k in range(pours) if (found := _pour(text, seed + k, say)) is not None]
        poured[name] = _summed(made, pours, share)
        last = made[-1] if made else last
    report = {"closed_cup": closed, "pours": poured}
    if last is None:
        return report
    return {**report, "refused": _refused(last), "replay": _replayed(last), "frame_ms": _frame_ms(last)}


# ---------------------------------------------------------------------- closed cup


def _closed(seconds: float, say: Callable[[str], None]) -> dict[str, Any]:
    """Losses, weight and level at `FINE` particles and the thinnest walls; cost of a simulated second, also at `FINER`."""
    ClosedCup(WALL, 200).run(DT)  # compiles the kernels
    found: dict[str, Any] = {"particles": FINE, "wall_m": WALL, "seconds": seconds, "lost": {}, "cpu_seconds": {}}
    for motion in MOTIONS:
        cup, begun = ClosedCup(WALL, FINE), time.process_time()
        forces = cup.run(seconds, motion)
        found["cpu_seconds"][f"{motion}, {FINE}"] = round((time.process_time() - begun) / seconds, 3)
        found["lost"][motion] = cup.count - int(cup.inside().sum())
        if motion == "still":
            found["weight_error"] = round(float(-forces[len(forces) // 2 :, 2].mean() / cup.weight - 1), 6)
            found["level_error"] = round(cup.level() / FILL - 1, 4)
        say(f"{motion} for {seconds:g} s: {found['lost'][motion]} of {FINE} lost")
    for motion in MOTIONS:
        cup, begun = ClosedCup(WALL, FINER), time.process_time()
        cup.run(seconds / 4, motion)
        found["cpu_seconds"][f"{motion}, {FINER}"] = round(4 * (time.process_time() - begun) / seconds, 3)
    say(f"CPU seconds a simulated second: {found['cpu_seconds']}")
    return found


# ---------------------------------------------------------------------- pours


@dataclass(frozen=True)
class _Pour:
    """What became of one."""

    scenario: Scenario
    recording: Recording
    share: float
    """Of the water, in the bowl at the end."""
    spilled: float
    """Of the water, neither in the bowl nor in the jug at the end."""
    particles: tuple[int, int]
    """Before, and at the end those within the workspace."""
    cpu_seconds: float
    """Of the attempt."""


def _pour(text: str, seed: int, say: Callable[[str], None]) -> _Pour | None:
    """A pour from fresh draws in a scene forged for it; None where none could be forged."""
    try:
        scenario = forge(Brief(text=text, seed=seed)).scenario
    except SmithError as error:
        say(f"{text} [{seed}]: not forged: {error}")
        return None
    begun = time.process_time()
    world = World(scenario)
    recording = demonstrate(Session(world, seed=seed), attempt_rng(seed, scenario.id, 0))
    liquids, goal = world.liquids, scenario.task.goal
    assert liquids is not None and isinstance(goal, Predicate)
    water, bowl = goal.args
    share = liquids.held_by(water, f"{bowl}.inside", world.data)
    left = liquids.held_by(water, liquids.pools[water].vessel, world.data)
    count = len(liquids.points(water))
    made = _Pour(
        scenario, recording, share, 1.0 - share - left, (count, count - liquids.retired(water)), time.process_time() - begun
    )
    say(f"{text} [{seed}]: {100 * share:.1f} % in the bowl, {100 * made.spilled:.1f} % beside, {recording.outcome}")
    return made


def _summed(made: list[_Pour], asked: int, wanted: float) -> dict[str, Any]:
    return {
        "asked": asked,
        "forged": len(made),
        "succeeded": sum(p.recording.outcome == "success" for p in made),
        "in_bowl": [round(p.share, 4) for p in made],
        "spilled": [round(p.spilled, 4) for p in made],
        "worst_miss": round(max((abs(p.share - wanted) for p in made), default=1.0), 4),
        "lost_particles": sum(before - after for p in made for before, after in (p.particles,)),
        "simulated_seconds": round(sum(p.recording.length for p in made) / 20, 1),
        "cpu_seconds": round(sum(p.cpu_seconds for p in made), 1),
    }


def _refused(pour: _Pour) -> str:
    """What is said when the water is in a cup with thin walls instead of the jug; empty: nothing is."""
    scene = pour.scenario.scene
    goal = pour.scenario.task.goal
    assert isinstance(goal, Predicate)
    vessel = scene.item(goal.args[0]).parent
    thin = AssetSpec(category="cup", params={"wall": THIN})
    items = tuple(item.model_copy(update={"asset": thin}) if item.id == vessel else item for item in scene.items)
    try:
        World(pour.scenario.model_copy(update={"scene": scene.model_copy(update={"items": items})}))
    except CompileError as error:
        return str(error)
    return ""


def _replayed(pour: _Pour) -> dict[str, Any]:
    """Is what follows a state in the middle of a pour the same bits again, in a world of its own?"""
    recording = pour.recording
    tipping = [k for k, label in enumerate(recording.labels) if label.startswith("pour")]
    middle = tipping[len(tipping) // 2] if tipping else recording.length // 2
    world = World(pour.scenario)
    world.restore(recording.states[middle])
    same = 0
    for action, state in zip(recording.actions[middle:], recording.states[middle + 1 :], strict=True):
        world.step(action)
        same += np.array_equal(world.save(), state)
    return {"from_step": middle, "steps": recording.length - middle, "same_bits": same}


def _frame_ms(pour: _Pour) -> dict[str, float]:
    """One picture, with the surface made anew, over a pour [ms]: the processor's time, and the clock's."""
    world = World(pour.scenario)
    states = pour.recording.states
    camera = pour.scenario.scene.cameras[0].name
    with WorldRenderer(world, *SIZE) as renderer:
        world.restore(states[0])
        renderer.rgb(camera)  # the first uploads meshes
        spent = clock = 0.0
        for k in np.linspace(1, len(states) - 1, FRAMES).astype(int):
            world.restore(states[k])
            cpu, wall = time.process_time(), time.perf_counter()
            renderer.rgb(camera)
            spent, clock = spent + time.process_time() - cpu, clock + time.perf_counter() - wall
    return {"cpu": round(1000 * spent / FRAMES, 1), "wall": round(1000 * clock / FRAMES, 1)}


def table(found: dict[str, Any]) -> list[str]:
    """What `measure` gave, as lines for people."""
    cup = found["closed_cup"]
    lines = [
        f"closed cup, walls {1000 * cup['wall_m']:g} mm, {cup['particles']} particles, {cup['seconds']:g} s each: lost",
        str(cup["lost"]),
        f"weight {100 * cup['weight_error']:+.2f} %, level {100 * cup['level_error']:+.1f} %",
        f"CPU seconds a simulated second: {cup['cpu_seconds']}",
    ]
    for name, row in found["pours"].items():
        lines.append(f"{name} pour: in the bowl {row['in_bowl']}, beside it {row['spilled']}")
    if "replay" in found:
        lines.append(
            f"replay from the middle of a pour: {found['replay']['same_bits']} of {found['replay']['steps']} states the same"
        )
        lines.append(
            f"picture of {SIZE[0]} x {SIZE[1]}: {found['frame_ms']['cpu']} ms of CPU, {found['frame_ms']['wall']} ms of wall"
        )
    return lines
