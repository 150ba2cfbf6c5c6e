"""EmbodiedSmith: from a sentence to verified simulated robot data.

The verbs of the command line are here in Python: `make`, `collect`, `resume`, `export`, `validate`, `report`, and `make_env`
for a scenario as a Gymnasium environment; with the extra `learn` also `train` and `spin`. `embodiedsmith.api` has them all,
`api.forge` and `api.learning.evaluate` included (`embodiedsmith.forge` and `embodiedsmith.evaluate` are packages). They load when
first used, so that importing one room does not load the house.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embodiedsmith.api import collect, export, make, make_env, report, resume, validate
    from embodiedsmith.api.learning import spin, train

__version__ = "0.1.0"

__all__ = ["__version__", "collect", "export", "make", "make_env", "report", "resume", "spin", "train", "validate"]

# MuJoCo chooses its rendering backend once, when it is imported; without this, on a Linux machine without a display it takes
# GLFW, which cannot work there. What the user has set stands.
if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("MUJOCO_GL", "egl")


def __getattr__(name: str) -> Any:
    if name in __all__:
        room = "embodiedsmith.api.learning" if name in ("spin", "train") else "embodiedsmith.api"
        return getattr(importlib.import_module(room), name)
    raise AttributeError(f"module 'embodiedsmith' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
