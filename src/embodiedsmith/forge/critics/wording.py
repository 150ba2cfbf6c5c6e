"""Words: does an instruction ask for what the goal checks? Judged before anything is simulated."""

from __future__ import annotations

from embodiedsmith.forge.critics.base import Context
from embodiedsmith.spec import Finding
from embodiedsmith.tasks.text import check_text


class WordingCritic:
    """Compares every instruction's verbs with the goal."""

    name = "wording"
    tier = 0
    on_draft = True
    codes = ("logic.text_disagrees",)

    def review(self, context: Context) -> list[Finding]:
        """One finding per instruction that asks for something else; a warning for the user's own words, which are free."""
        task = context.scenario.task
        findings = [f for text in task.instructions.values() if (f := check_text(text, task.goal)) is not None]
        own = check_text(task.user_text, task.goal) if task.user_text else None
        return findings + ([own.model_copy(update={"severity": "warning"})] if own is not None else [])


CRITIC = WordingCritic()
