"""Words: does an instruction ask for what the goal checks? Judged before anything is simulated."""

from __future__ import annotations

from collections.abc import Mapping

from embodiedsmith.forge.critics.base import Context
from embodiedsmith.spec import EditKind, Finding
from embodiedsmith.tasks.text import check_text


class WordingCritic:
    """Compares every instruction's verbs with the goal."""

    name = "wording"
    tier = 0
    on_draft = True
    codes: Mapping[str, tuple[EditKind, ...]] = {"logic.text_disagrees": ("rephrase", "change_argument")}

    def review(self, context: Context) -> list[Finding]:
        """One finding per instruction that asks for something else.

        The user's own text is not judged: it is free in its words, and the agent has read the goal out of it.
        """
        task = context.scenario.task
        return [f for text in task.instructions.values() if (f := check_text(text, task.goal)) is not None]


CRITIC = WordingCritic()
