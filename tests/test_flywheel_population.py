"""Populations: neighbouring levels, the best is gone on from, and only what is worse beyond doubt is replaced."""

from __future__ import annotations

import pytest

from embodiedsmith.flywheel.population import Population


def test_members_explore_at_neighbouring_levels() -> None:
    assert Population.of(1).levels(4) == (4,)
    assert Population.of(5).levels(4) == (4, 5, 3, 6, 2)
    assert Population.of(5).levels(1) == (1, 2, 1, 3, 1)
    assert Population.of(3).levels(10) == (10, 10, 9)


@pytest.mark.parametrize("count", [0, 1, 7, 96])
def test_attempts_are_dealt_alike(count: int) -> None:
    shares = Population.of(4).shares(count)
    assert sum(shares) == count
    assert max(shares) - min(shares) <= 1


def test_the_best_leads_and_the_clearly_worse_are_copies_of_it() -> None:
    population, copies, decisions = Population.of(3).after(2, {0: (60, 100), 1: (70, 100), 2: (30, 100)}, task="basket")
    assert population.leader == 1
    assert copies == {2: 1}  # the first is behind, but not beyond doubt
    assert [m.origin for m in population.members] == [0, 1, 1]
    assert [m.offset for m in population.members] == [0, 1, -1]
    assert population.members[2].since == 2
    assert [d.what for d in decisions] == ["leader", "member 2"]
    assert decisions[0].numbers == {"success_0": 0.6, "success_1": 0.7, "success_2": 0.3}
    assert decisions[1].reason.startswith("it is behind by 0.40")
    assert {d.task for d in decisions} == {"basket"}


def test_who_leads_goes_on_leading_on_a_tie() -> None:
    population = Population.of(3).model_copy(update={"leader": 2})
    again, copies, decisions = population.after(1, {0: (5, 10), 1: (5, 10), 2: (5, 10)})
    assert again.leader == 2
    assert copies == {}
    assert not decisions[0].changed


def test_a_population_of_one_changes_nothing() -> None:
    population, copies, _ = Population.of(1).after(0, {0: (0, 10)})
    assert (population, copies) == (Population.of(1), {})
    assert Population.from_json(population.to_json()) == population
