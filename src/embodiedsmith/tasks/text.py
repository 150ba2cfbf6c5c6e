"""Instructions in English and Chinese, generated from goals, and the check that given words ask for what a goal asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from embodiedsmith import assets
from embodiedsmith.spec import All, Any, Finding, Goal, Language, Not, Predicate, SceneSpec, Sequence, predicates
from embodiedsmith.tasks.goal import title
from embodiedsmith.tasks.kind import Words
from embodiedsmith.tasks.nouns import Nouns
from embodiedsmith.tasks.registry import predicate, predicate_names

_JOIN: dict[Language, dict[str, str]] = {
    "en": {
        "comma": ", ", "all": " and ", "any": " or ", "not": "do not ", "first": "first ", "then": ", then ",
        "last": ", and finally ",
    },
    "zh": {
        "comma": "，", "all": "，并", "any": "，或者", "not": "不要", "first": "先", "then": "，然后",
        "last": "，最后",
    },
}  # fmt: skip


def instruction(goal: Goal, scene: SceneSpec, language: Language, initial: Iterable[Predicate] = ()) -> str:
    """The goal as an instruction: "put the red mug in the top drawer of the drawer unit and close it".

    Things are named by category, with colour, material and size where the scene gives them or where only they tell things apart;
    else they are told by where they are, or by what is beside them at the start (`initial`). The same goal and scene always give
    the same words.

    Raises:
        UsageError: the goal has an unknown predicate.
        KeyError: it speaks of an item that the scene has not.
        UnknownCategory: the scene has an item of a category that the catalogue has not.
    """
    return _Speaker(Nouns(scene, language, initial), language).say(goal)


class _Speaker:
    """Says goals, remembering the thing named last so that it can be called "it"."""

    def __init__(self, nouns: Nouns, language: Language) -> None:
        self._nouns = nouns
        self._language = language
        self._join = _JOIN[language]
        self._last: tuple[str, ...] = ()
        self._last_was_place = False

    def say(self, goal: Goal) -> str:
        match goal:
            case Predicate():
                return self._clause([goal])
            case All():
                return self._all(goal.goals)
            case Any():
                return self._any(goal)
            case Sequence():
                return self._sequence(goal)
            case Not():
                return self._not(goal.goal)

    def _all(self, goals: tuple[Goal, ...]) -> str:
        """Goals that hold together; what is not to be done meanwhile stands beside them: "without moving the plate"."""
        goals = tuple(_flat(goals))
        along = [g for g in goals if _said_along(g, self._language)]
        deeds = _in_order([g for g in goals if g not in along])
        if not deeds or not along:
            return self._deeds(deeds or along)
        return self._deeds(deeds) + self._join["comma"] + self._along(along)

    def _deeds(self, goals: list[Goal]) -> str:
        return self._list([self._clause(g) if isinstance(g, list) else self.say(g) for g in _merged(goals)], "all")

    def _along(self, goals: list[Goal]) -> str:
        return self._list([self._clause(g, along=True) for g in _merged(goals) if isinstance(g, list)], "all")

    def _sequence(self, goal: Sequence) -> str:
        """Stages in their order; what only goes on holding from the stage before is not said again."""
        stages = []
        held: list[Goal] = []
        for stage in goal.goals:
            parts = [part for part in _flat([stage]) if part not in held]
            stages.append(self._all(tuple(parts)) if parts else self.say(stage))
            held = list(_flat([stage]))
        if len(stages) == 1:
            return stages[0]
        *before, last = stages
        return self._join["first"] + self._join["then"].join(before) + self._join["last" if len(before) > 1 else "then"] + last

    def _any(self, goal: Any) -> str:
        parts = list(_merged(goal.goals))
        if len(parts) == 1 and isinstance(parts[0], list) and (one := self._nouns.one_of([p.args[0] for p in parts[0]])):
            return self._clause(parts[0], first=one)
        return self._list([self.say(g) for g in goal.goals], "any")

    def _not(self, goal: Goal) -> str:
        match goal:
            case Predicate():
                return self._clause([goal], undo=True)
            case Not():
                return self.say(goal.goal)
            case All():
                return self.say(Any(goals=tuple(Not(goal=g) for g in goal.goals)))
            case Any():
                return self.say(All(goals=tuple(Not(goal=g) for g in goal.goals)))
            case Sequence():
                return self._join["not"] + self.say(goal)

    def _clause(self, group: list[Predicate], *, undo: bool = False, along: bool = False, first: str = "") -> str:
        """One clause for predicates that differ only in their first argument."""
        kind = predicate(group[0].name)
        words = kind.words[self._language]
        template = words.undo if undo else words.along if along else words.do
        if words.alike and not undo and self._nouns.alike([*(p.args[0] for p in group), *group[0].args[1:]]):
            template = words.alike
        if along or (self._last_was_place and kind.roles[0].need == "movable"):
            self._last = ()  # "put it" after "in the bowl" would be what is in the bowl
        last = self._last
        items, others = [p.args[0] for p in group], list(zip(group[0].args[1:], kind.roles[1:], strict=True))
        self._last = tuple(self._nouns.meant(item, kind.roles[0].need) for item in items)
        if self._last == last and not first:
            phrases = [self._pronoun(len(items), bare=not others and not template.startswith("把"))]
        else:
            phrases = [first or self._nouns.group(items, kind.roles[0].need)]
        for reference, role in others:
            self._last = (self._nouns.meant(reference, role.need),)
            again = self._last == last and self._language == "en" and not self._nouns.located(items)
            phrases.append("it" if again else self._nouns.one(reference, role.need))
        self._last_was_place = bool(others)
        numbers = kind.resolve(group[0].params)
        return template.format(*phrases, **numbers, **kind.phrases(numbers, self._language))

    def _pronoun(self, count: int, *, bare: bool) -> str:
        """What stands for what was named last; in Chinese nothing where the verb can stand by itself."""
        if self._language == "en":
            return "it" if count == 1 else "them"
        return "" if bare else "它" if count == 1 else "它们"

    def _list(self, clauses: list[str], word: str) -> str:
        head, last = clauses[:-1], clauses[-1]
        if not head:
            return last
        joint = self._join[word]
        if self._language == "zh" and word == "all" and len(last) <= 3:  # "并关上": too short for a pause
            joint = "并"
        return self._join["comma"].join(head) + joint + last


def _flat(goals: Iterable[Goal]) -> Iterator[Goal]:
    """Goals with those of an `all` in its place."""
    for goal in goals:
        if isinstance(goal, All):
            yield from _flat(goal.goals)
        else:
            yield goal


def _said_along(goal: Goal, language: Language) -> bool:
    return isinstance(goal, Predicate) and bool(predicate(goal.name).words[language].along)


def _in_order(goals: list[Goal]) -> list[Goal]:
    """Goals that hold together, so that each can still be done after those said before it."""
    held = {g.args[0] for g in goals if isinstance(g, Predicate) and predicate(g.name).said_last == 2}

    def lateness(goal: Goal) -> int:
        if not isinstance(goal, Predicate):
            return 0
        of_the_held = len(goal.args) == 1 and goal.args[0] in held and predicate(goal.name).said_last < 2
        return 3 if of_the_held else predicate(goal.name).said_last

    return sorted(goals, key=lateness)


def _merged(goals: tuple[Goal, ...] | list[Goal]) -> Iterator[list[Predicate] | Goal]:
    """Goals in order, neighbouring predicates that differ only in their first argument gathered in lists."""
    run: list[Predicate] = []
    for goal in goals:
        if isinstance(goal, Predicate):
            if run and (goal.name, goal.args[1:], goal.params) != (run[0].name, run[0].args[1:], run[0].params):
                yield run
                run = []
            run.append(goal)
            continue
        if run:
            yield run
            run = []
        yield goal
    if run:
        yield run


# ---------------------------------------------------------------------- given words


def check_text(text: str, goal: Goal) -> Finding | None:
    """What in given words disagrees with a goal, judged by their verbs; None when they can mean the goal.

    Found are: a predicate of the goal that no word of the text asks for, and a word that asks for a predicate that is not in the
    goal and does not lead to one that is ("lift" with a goal that wants the thing placed). English or Chinese, told by the
    script.
    """
    language: Language = "zh" if re.search(r"[\u4e00-\u9fff]", text) else "en"
    wanted = {p.name: p for p in _positive(goal)}
    said = _asked(text.lower(), language)
    unsaid = [p for name, p in wanted.items() if not any(name in meanings for meanings in said.values())]
    negated = len(wanted) < len({p.name for p in predicates(goal)})
    surplus = {verb: m for verb, m in said.items() if not negated and not any(_leads(name, set(wanted)) for name in m)}
    if not unsaid and not surplus:
        return None
    reasons = [f"the goal wants {title(p)}, which no word of it asks for" for p in unsaid]
    reasons += [f"'{verb}' asks for {' or '.join(sorted(m))}, which the goal does not want" for verb, m in surplus.items()]
    return Finding(
        code="logic.text_disagrees",
        subjects=tuple(dict.fromkeys(arg for p in (unsaid or wanted.values()) for arg in p.args)),
        message=f"the instruction '{text}' and the goal disagree: " + "; ".join(reasons),
    )


def _positive(goal: Goal) -> Iterator[Predicate]:
    match goal:
        case Predicate():
            yield goal
        case All() | Any() | Sequence():
            for part in goal.goals:
                yield from _positive(part)
        case Not():
            return


def _leads(name: str, wanted: set[str]) -> bool:
    return name in wanted or bool(predicate(name).leads_to & wanted)


_THERE = re.compile(r"\b(?:that|which) (?:is|are) (?:near|next to|close to)\b")
"""Where something is, told with words that can also tell where to move it."""
_PALM = re.compile(r"\bin (?:the|your) hand\b")
"""Where something lies: no deed, as "hand" alone is."""


def _asked(text: str, language: Language) -> dict[str, set[str]]:
    """Verbs found in the text, longest first and each stretch of text once, with the predicates each can ask for."""
    kinds = {name: predicate(name).words[language] for name in predicate_names()}
    meanings: dict[str, set[str]] = {}
    for name, words in kinds.items():
        for verb in words.verbs:
            meanings.setdefault(verb, set()).add(name)
    found: dict[str, set[str]] = {}
    whole = text
    text = _without_nouns(_PALM.sub(" _ ", _THERE.sub(" _ ", text)), language, frozenset(meanings))
    for verb in sorted(meanings, key=lambda v: (-len(v), v)):
        left, count = re.subn(_pattern(verb, language), " _ ", text)
        if count:
            text = left
            names = meanings[verb]
            found[verb] = {n for n in names if len(names) == 1 or _marked(whole, kinds[n], language)} or names
    return found


_BEGINNING = r"(?:^|[.,;:!]\s*|\b(?:and|then|to|please|now)\s+)"
"""What stands before the verb of an English clause."""


def _without_nouns(text: str, language: Language, verbs: frozenset[str]) -> str:
    """The text without the names of things, which may hold verbs: "stand", "立方体"; "scoop" is a verb where a clause begins."""
    nouns = {noun for category in assets.categories().values() for noun in category.names.get(language, ())}
    for noun in sorted(nouns, key=lambda n: (-len(n), n)):
        if language == "en" and noun in verbs:
            pattern = rf"({_BEGINNING})?\b{re.escape(noun)}s?\b"
            text = re.sub(pattern, lambda found: " _ " if found[1] is None else found[0], text)
        else:
            text = re.sub(rf"\b{re.escape(noun)}\b" if language == "en" else re.escape(noun), " _ ", text)
    return text


def _marked(text: str, words: Words, language: Language) -> bool:
    return not words.marks or any(re.search(_pattern(mark, language), text) for mark in words.marks)


def _pattern(word: str, language: Language) -> str:
    if language == "zh":
        return re.escape(word)
    return rf"\b{re.escape(word)}(?:s|d|ed|ing|ting|ped|ping)?\b"
