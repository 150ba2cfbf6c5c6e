"""The report shows what was repaired: the finding, what was done, and the scene before and after."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from PIL import Image

from embodiedsmith import api
from embodiedsmith.episodes.forging import forged
from embodiedsmith.episodes.report_repairs import repaired
from embodiedsmith.episodes.store import EpisodeStore
from embodiedsmith.runtime.run import Run


def test_repairs_are_told_with_pictures_before_and_after(tmp_path: Path) -> None:
    api.forge("put the mug in the drawer and close it", n=2, out=tmp_path / "run", seed=0, mode="scene")
    folder = tmp_path / "run" / "report"
    with Run.open(tmp_path / "run") as run:
        store = EpisodeStore(run)
        entries = forged(store)
        shown = repaired(folder, store, entries)
    assert shown and {r.index for r in shown} == {e.index for e in entries if e.edits}
    page = (folder / "index.html").read_text("utf-8")
    assert "What was repaired" in page
    for repair in shown:
        assert repair.code in page and repair.why and repair.kinds
        assert repair.before is not None and repair.after is not None
        before, after = (np.asarray(Image.open(folder / name)) for name in (repair.before, repair.after))
        assert before.shape == after.shape and (before != after).any()
    assert set(re.findall(r"repairs/[\w-]+\.png", page)) == {name for r in shown for name in (r.before, r.after)}
