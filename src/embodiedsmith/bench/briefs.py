"""How often everyday sentences give verified demonstrations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from embodiedsmith.bench import sentences
from embodiedsmith.bench.sentences import Sentence
from embodiedsmith.forge.loop import forge
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.spec import Brief

BRIEFS = (
    Sentence(text="put the red mug in the top drawer and close it"),
    Sentence(text="stack the blue block on the green block"),
    Sentence(text="open the microwave, put the bowl inside and close it"),
    Sentence(text="put every apple in the basket"),
    Sentence(text="put the book on the shelf"),
    Sentence(text="把红色的杯子放进最上面的抽屉里"),
    Sentence(text="put the two cans in the bin"),
    Sentence(text="take the bottle from the table and put it in the fridge", robot="panda_mobile"),
    Sentence(text="put the mug on the plate"),
    Sentence(text="put the banana in the bowl"),
    Sentence(text="move the sponge next to the box"),
    Sentence(text="put the lemon on the plate and the can in the box"),
    Sentence(text="take the apple out of the drawer"),
    Sentence(text="close the drawer"),
    Sentence(text="lift the jar"),
    Sentence(text="把苹果放到盘子上，然后打开抽屉"),
    Sentence(text="open the cabinet and put the can inside", robot="panda_mobile"),
    Sentence(text="stack the red block on the blue block", robot="ur5e"),
)
REFUSED = "tidy the desk: pens are not needed, put the two cans in the bin"
"""A sentence with a word for something the catalogue does not hold: it must be named, not guessed."""


def measure(
    *, seeds: int = 10, workers: int = 1, folder: Path | None = None, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Try every sentence of `BRIEFS`: what `sentences.measure` gives, and `refused`, the lines that `REFUSED` was refused for."""
    found = sentences.measure(BRIEFS, seeds=seeds, workers=workers, folder=folder, say=say)
    return {**found, "refused": refusal()}


def refusal() -> list[str]:
    """What the sentence `REFUSED` is refused for, one line a reason."""
    try:
        forge(Brief(text=REFUSED))
    except SmithError as error:
        return str(error).splitlines()
    return []
