"""How varied a set of scenarios is: goals, things, words, and cells of the archive filled."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from embodiedsmith.forge.auto.archive import Archive
from embodiedsmith.forge.auto.signature import jaccard
from embodiedsmith.forge.language.neighbours import encode

GRAMS = 4
"""Longest word sequence that self-BLEU compares."""


@dataclass(frozen=True, kw_only=True)
class Diversity:
    """Numbers of how varied scenarios are."""

    scenarios: int
    goals: int
    """Different goals, things told by category."""
    goal_shapes: int
    """Different ways in which predicates are joined, whatever they speak of."""
    asset_jaccard: float
    """Mean Jaccard distance between the sets of categories of two scenes: 0 all alike, 1 nothing in common."""
    self_bleu: float
    """Mean BLEU-4 of an instruction against all others: 1 all alike. Zhu et al., "Texygen", SIGIR 2018."""
    embedding_similarity: float
    """Mean cosine between the sentence embeddings of two instructions."""
    cells_filled: int
    cells_reachable: int
    pairs_filled: int
    """Pairs of values of two axes of the archive, such as (kitchen, 7+) or (open, fruit), that the scenarios have."""
    pairs_reachable: int
    settings: dict[str, int] = field(default_factory=dict)
    predicates: dict[str, int] = field(default_factory=dict)
    """Scenarios whose goal has the predicate."""
    families: dict[str, int] = field(default_factory=dict)
    embodiments: dict[str, int] = field(default_factory=dict)
    horizons: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As JSON values, rounded to what can be told apart."""
        return {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(self).items()}


def diversity(archive: Archive) -> Diversity:
    """How varied the scenarios of an archive are."""
    entries = archive.entries
    words = [entry.instruction for entry in entries]
    cells = [entry.cell for entry in entries]
    shapes = {entry.signature.shape for entry in entries}
    pairs = [jaccard(set(a.signature.assets), set(b.signature.assets)) for a, b in combinations(entries, 2)]
    return Diversity(
        scenarios=len(entries),
        goals=len({entry.signature.goal for entry in entries}),
        goal_shapes=len(shapes),
        asset_jaccard=float(np.mean(pairs)) if pairs else 0.0,
        self_bleu=self_bleu(words),
        embedding_similarity=embedding_similarity(words),
        cells_filled=len(archive.filled),
        cells_reachable=len(archive.cells),
        pairs_filled=archive.pairs_filled,
        pairs_reachable=archive.pairs_reachable,
        settings=_counted(cell.setting for cell in cells),
        predicates=_counted(name for cell in cells for name in cell.predicates),
        families=_counted(cell.family for cell in cells),
        embodiments=_counted(cell.embodiment for cell in cells),
        horizons=_counted(cell.horizon for cell in cells),
    )


def self_bleu(texts: Sequence[str]) -> float:
    """Mean BLEU-4 of each text with all others as references; 0 for fewer than two.

    Counts above zero only are averaged in the logarithm after adding one to counts and totals of the longer sequences (Lin and
    Och, ORANGE, COLING 2004), so that a short text is not worth 0.
    """
    if len(texts) < 2:
        return 0.0
    grams = [[_grams(text.lower().replace(",", " ,").split(), n) for n in range(1, GRAMS + 1)] for text in texts]
    most = [_two_most([g[n] for g in grams]) for n in range(GRAMS)]
    lengths = [sum(g[0].values()) for g in grams]
    scores = []
    for k, mine in enumerate(grams):
        logs = []
        for n in range(GRAMS):
            total = sum(mine[n].values())
            hits = sum(min(count, _most_of_others(most[n], gram, k)) for gram, count in mine[n].items())
            smooth = 1 if n else 0
            logs.append(math.log((hits + smooth) / (total + smooth)) if hits + smooth else -math.inf)
        nearest = min((abs(other - lengths[k]), other) for j, other in enumerate(lengths) if j != k)[1]
        brevity = min(0.0, 1.0 - nearest / lengths[k])
        scores.append(math.exp(brevity + sum(logs) / GRAMS))
    return float(np.mean(scores))


def embedding_similarity(texts: Sequence[str]) -> float:
    """Mean cosine between the embeddings of two different texts; 0 for fewer than two texts."""
    if len(texts) < 2:
        return 0.0
    cosines = (vectors := encode(tuple(texts))) @ vectors.T
    return float(cosines[np.triu_indices(len(texts), 1)].mean())


def _grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


_Most = dict[tuple[str, ...], list[tuple[int, int]]]


def _two_most(counts: list[Counter[tuple[str, ...]]]) -> _Most:
    """For each sequence the two texts that have it most often, as (count, text): enough to leave any one text out."""
    found: _Most = {}
    for text, counted in enumerate(counts):
        for gram, count in counted.items():
            best = found.setdefault(gram, [])
            best.append((count, text))
            best.sort(reverse=True)
            del best[2:]
    return found


def _most_of_others(most: _Most, gram: tuple[str, ...], text: int) -> int:
    return next((count for count, other in most[gram] if other != text), 0)


def _counted(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
