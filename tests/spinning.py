"""A process of its own that spins a small flywheel, or goes on with one, and kills itself at a chosen change of the run's folder.

Between two changes nothing is on the disk that was not before, so that these are all the moments there are to be killed at.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

SMALL = {
    "rounds": 3, "scenarios": 1, "held_out": 1, "demonstrations": 4, "rollouts": 4, "experts": 2, "cold_steps": 40,
    "round_steps": 20, "retrain_every": 2, "evaluations": 2, "final_evaluations": 2, "forgetting": 1, "requests": 1, "width": 32,
    "depth": 2, "time_limit": 1.0, "expert": "failures",
}  # fmt: skip
changes = 0


def watch(folder: Path, last: int) -> None:
    """Count openings for writing, renamings and removals in the folder; die of SIGKILL at the one of number `last`."""
    inside = f"{folder}{os.sep}"

    def hook(event: str, args: tuple[object, ...]) -> None:
        global changes  # noqa: PLW0603
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if (writes or event in {"os.rename", "os.remove", "os.mkdir", "os.truncate"}) and str(args[0]).startswith(inside):
            changes += 1
            if changes == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def main(folder: Path, result: Path, last: int) -> None:
    """Begin the spin in the folder, or go on with it where there is one; write down its result and the number of changes."""
    watch(folder, last)
    from embodiedsmith.api.learning import spin
    from embodiedsmith.flywheel.spin import spin as go_on
    from embodiedsmith.runtime.run import Run

    if (folder / "run.json").exists():
        with Run.open(folder, write=True) as run:
            made = go_on(run)
    else:
        made = spin("put the can in the basket", out=folder, seed=3, videos=False, **SMALL)  # type: ignore[arg-type]
    result.write_text(json.dumps([made, changes]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
