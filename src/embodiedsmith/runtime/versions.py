"""Which versions of what decide the result of a run."""

from __future__ import annotations

import platform
from importlib import metadata

PACKAGES = ("embodiedsmith", "mujoco", "numpy", "scipy", "mink", "ompl", "toppra", "trimesh", "pyarrow", "av")


def versions() -> dict[str, str]:
    """Versions of Python and of every installed package on which an episode's bits depend, and the machine's kind."""
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
