"""Arguments of the verbs: looked at before anything is done, all faults at once."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from embodiedsmith import assets, embodiments
from embodiedsmith.forge import agents
from embodiedsmith.forge.language.lexicon import is_chinese, lexicon, split_units
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.run import Run
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import Brief
from embodiedsmith.spec.scenario import AgentName, Mode
from embodiedsmith.spec.scene import ID_PATTERN

SCENE_CAMERAS = ("front", "over_shoulder")
"""Cameras that every laid-out scene has; the robot adds its own."""
MODES: tuple[Mode, ...] = get_args(Mode)
"""How the forge works; `joint` is the default, the others are there to compare with."""
ANY = "any"
"""Instead of a robot's name: the forge may choose."""
MOST_EPISODES = 100_000
"""Episodes or scenarios asked for at most in one call."""
LEAST_MOST_WORKERS = 8
"""Processes that any machine may be asked for; beyond it, two for each core: each holds some 300 MB."""
LEAST_BUDGET, MOST_BUDGET = 1.0, 1e6
"""What forging one scenario may cost [simulated seconds and plans]."""
OWNERS = ("robot", "world", "floor", "finger_0", "finger_1")
"""Names that physics has for other things than those of the scene."""


def brief_of(text: str, embodiment: str, agent: AgentName, mode: Mode, seed: int) -> Brief:
    """The arguments as a brief; raises UsageError with every fault at once."""
    embodiment = embodiments.full_name(embodiment)
    if embodiment != ANY:
        embodiments.get(embodiment)
    agents.get(agent)
    if mode not in MODES:
        raise UsageError(f"no forge mode '{mode}'", where="mode", choices=MODES)
    if not text.strip():
        raise UsageError(
            "the brief is empty", where="brief", remedy="say what is wanted, such as: put the red mug in the top drawer"
        )
    try:
        return Brief(text=text, embodiment=embodiment, agent=agent, mode=mode, seed=seed)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise UsageError("the brief cannot be used", where="brief", faults=faults) from error


def create_understood(out: str | Path, config: Mapping[str, Any], briefs: Brief | Sequence[Brief], *, quiet: bool) -> Run:
    """A new run, after the briefs were understood and said back: what is not understood leaves nothing on disk.

    Raises:
        RunMismatchError: There is a run of other settings; lists the differences.
        RunError: There is a run of these settings already, or something else.
    """
    for brief in [briefs] if isinstance(briefs, Brief) else briefs:
        draft = agents.get(brief.agent).propose(brief, generator(brief.seed, "reading"))
        if not quiet:
            print("\n".join([f"for example: {draft.reading}", *draft.warnings]), file=sys.stderr)
    return new_run(out, config)


def new_run(out: str | Path, config: Mapping[str, Any]) -> Run:
    """A new run; errors as for `create_understood`."""
    if (Path(out) / "run.json").is_file():
        Run.open(out, config).close()
    return Run.create(out, config)


def given(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def check_numbers(**numbers: float | None) -> None:
    """Raise UsageError naming every number that is out of range."""
    processes = max(LEAST_MOST_WORKERS, 2 * (os.cpu_count() or 1))
    limits = {
        "n": (1, MOST_EPISODES), "scenarios": (1, MOST_EPISODES), "workers": (1, processes),
        "budget": (LEAST_BUDGET, MOST_BUDGET), "size": (16, 2048),
        "pushes": (0.0, 3.0), "scale": (1e-6, 1e6), "mass": (1e-3, 1e3), "density": (1.0, 25e3),
    }  # fmt: skip
    faults = []
    for name, value in numbers.items():
        least, most = limits[name]
        if value is not None and value < least:
            faults.append(f"{name} must be at least {least:g}, not {value:g}")
        elif value is not None and value > most:
            faults.append(f"{name} must be at most {most:g}{' on this machine' if name == 'workers' else ''}, not {value:g}")
    if (size := numbers.get("size")) is not None and size % 2:
        faults.append(f"size must be even, as video needs, not {size}")
    if faults:
        raise UsageError("these values cannot be used", faults=faults)


def check_words(name: str, words: Sequence[str], words_zh: Sequence[str], material: str, color: str | None) -> None:
    """Raise when an import cannot be called that: briefs must be able to name it, and nothing else by the same word."""
    faults = []
    if not re.fullmatch(ID_PATTERN, name) or len(name) > 40:
        faults.append(f"name '{name}' must be lower-case letters, digits and _, a letter first, at most 40")
    if name in (*assets.categories(imported=False), *OWNERS):
        faults.append(f"'{name}' is taken")
    if any(is_chinese(word) for word in words) or not all(is_chinese(word) for word in words_zh):
        faults.append("words are English and words-zh Chinese")
    for word in (*words, *words_zh):
        senses = lexicon().get(split_units(word))
        own = {category for category, known in assets.categories().items() if known.label == name}
        taken = sorted({sense.value or sense.kind for sense in senses} - own)
        if not word.strip() or word != word.strip().lower():
            faults.append(f"word '{word}' must be in lower case without spaces round it")
        elif taken:
            faults.append(f"'{word}' already means {', '.join(taken)} in a brief")
    if material not in assets.MATERIALS:
        faults.append(f"material '{material}' is not one of {sorted(assets.MATERIALS)}")
    if color is not None and color not in assets.COLORS:
        faults.append(f"colour '{color}' is not one of {sorted(assets.COLORS)}")
    if faults:
        raise UsageError("the thing cannot be called that", faults=faults, remedy="choose another --name or other --words")


def check_cameras(cameras: Sequence[str], embodiment: str) -> None:
    """Raise UsageError when the robot and the scene will not have these cameras: before an hour of work, not after it."""
    if embodiment == ANY:
        if cameras:
            remedy = "name a robot, or leave the dataset out (--no-export)"
            raise UsageError("a dataset holds one robot, and any was asked for", where="embodiment", remedy=remedy)
        return
    known = (*SCENE_CAMERAS, *(camera.name for camera in embodiments.get(embodiment).cameras))
    if unknown := [name for name in cameras if name not in known]:
        raise UsageError(f"there is no camera {', '.join(map(repr, unknown))}", where="cameras", choices=known)


def heed_versions(run: Run, quiet: bool) -> None:
    """Say what is installed in another version than the run was made with: new episodes may then differ from the old in kind."""
    changes = run.version_changes()
    if changes and not quiet:
        print("\n".join(["warning: versions differ from those the run was made with", *changes]), file=sys.stderr)
