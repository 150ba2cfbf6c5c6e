"""Several policies on one task, each at a difficulty of its own: all explore, their data is pooled, and the best is gone on from.

A member that is worse than the best beyond doubt is replaced by a copy of the best, with a seed of its own, at the difficulty
that the lost one had: what differs between members is how hard they explore and what their training draws. Members that are not
clearly worse go on by themselves, so that a population does not become one policy by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import Field

from embodiedsmith.evaluate.intervals import newcombe
from embodiedsmith.flywheel.journal import Decision
from embodiedsmith.flywheel.levels import LEVELS
from embodiedsmith.spec import Noun

PART = "population"
Count = tuple[int, int]
"""Successes and trials."""


class Member(Noun):
    """One policy of a population."""

    number: int = Field(ge=0)
    offset: int
    """Levels above (below, when negative) that of the curriculum at which it explores."""
    origin: int = Field(ge=0)
    """Member that its policy was copied from, itself when never."""
    since: int = Field(default=0, ge=0)
    """Round after which it has gone its own way."""


class Population(Noun):
    """The members, as a value: `after` gives the next one."""

    members: tuple[Member, ...]
    leader: int = 0
    """Number of the member that was best last."""

    @classmethod
    def of(cls, size: int) -> Self:
        """A population at neighbouring levels: the curriculum's own, then one above, one below, two above ...

        The first explores where a single policy would, so that a population of one is a single policy.
        """
        offsets = [(k + 1) // 2 * (1 if k % 2 else -1) for k in range(size)]
        return cls(members=tuple(Member(number=k, offset=offset, origin=k) for k, offset in enumerate(offsets)))

    def levels(self, level: int, levels: int = LEVELS) -> tuple[int, ...]:
        """The level at which each member explores, when the curriculum is at `level`."""
        return tuple(min(max(level + member.offset, 1), levels) for member in self.members)

    def shares(self, count: int) -> tuple[int, ...]:
        """How many of `count` attempts each member makes: alike, the first ones one more."""
        size = len(self.members)
        return tuple(count // size + (k < count % size) for k in range(size))

    def after(
        self, round: int, results: Mapping[int, Count], *, task: str = ""
    ) -> tuple[Self, dict[int, int], tuple[Decision, ...]]:
        """After a round in which every member was tried on the same starts.

        Args:
            round: Its number.
            results: By member's number.
            task: Named in the decisions.

        Returns:
            The population, which members are to be replaced by a copy of which (number to number), and why.
        """
        ranked = sorted(results, key=lambda k: (-_rate(results[k]), k != self.leader, k))
        best = ranked[0]
        copies: dict[int, int] = {}
        decisions = [
            Decision(
                round=round, part=PART, what="leader", before=self.leader, after=best, task=task,
                reason=f"success {_rate(results[best]):.2f} is the best of {len(results)} members",
                numbers={f"success_{k}": _rate(count) for k, count in sorted(results.items())},
            )
        ]  # fmt: skip
        members = list(self.members)
        for place, member in enumerate(self.members):
            behind = newcombe(results[best], results[member.number])
            if member.number == best or behind.low <= 0:
                continue
            copies[member.number] = best
            members[place] = member.model_copy(update={"origin": best, "since": round})
            reason = f"it is behind by {behind.value:.2f} ({behind.low:.2f} to {behind.high:.2f}); it goes on from member {best}"
            decisions.append(
                Decision(
                    round=round,
                    part=PART,
                    what=f"member {member.number}",
                    before=member.origin,
                    after=best,
                    reason=reason,
                    task=task,
                )
            )
        return self.model_copy(update={"members": tuple(members), "leader": best}), copies, tuple(decisions)


def _rate(count: Count) -> float:
    return count[0] / count[1] if count[1] else 0.0
