"""Instructions in English and Chinese, generated from goals, and the check that given words ask for what a goal asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from embodiedsmith import assets
from embodiedsmith.spec import All, Any, Finding, Goal, Language, Not, Predicate, SceneSpec, Sequence, predicates
from embodiedsmith.tasks.goal import title
from embodiedsmith.tasks.kind import Words
from embodiedsmith.tasks.nouns import Nouns
from embodiedsmith.tasks.registry import predicate, predicate_names

_JOIN: dict[Language, dict[str, str]] = {
    "en": {"comma": ", ", "all": " and ", "any": " or ", "then": ", then ", "not": "do not "},
    "zh": {"comma": "，", "all": "，并", "any": "，或者", "then": "，然后", "not": "不要"},
}


def instruction(goal: Goal, scene: SceneSpec, language: Language) -> str:
    """The goal as an instruction: "put the red mug in the top drawer of the drawer unit and close it".

    Things are named by category, with colour and size where the scene gives them or where only they tell things apart. The
    same goal and scene always give the same words.

    Raises:
        UsageError: the goal has an unknown predicate.
        KeyError: it speaks of an item that the scene has not.
        UnknownCategory: the scene has an item of a category that the catalogue has not.
    """
    return _Speaker(scene, language).say(goal)


class _Speaker:
    """Says goals, remembering the thing named last so that it can be called "it"."""

    def __init__(self, scene: SceneSpec, language: Language) -> None:
        self._nouns = Nouns(scene, language)
        self._language = language
        self._join = _JOIN[language]
        self._last = ""
        self._last_was_place = False

    def say(self, goal: Goal) -> str:
        match goal:
            case Predicate():
                return self._clause([goal])
            case All():
                ordered = sorted(goal.goals, key=_said_last)
                return self._list([self._clause(g) if isinstance(g, list) else self.say(g) for g in _merged(ordered)], "all")
            case Any():
                return self._any(goal)
            case Sequence():
                return self._join["then"].join([self.say(g) for g in goal.goals])
            case Not():
                return self._not(goal.goal)

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

    def _clause(self, group: list[Predicate], *, undo: bool = False, first: str = "") -> str:
        """One clause for predicates that differ only in their first argument."""
        kind = predicate(group[0].name)
        words = kind.words[self._language]
        numbers = kind.resolve(group[0].params)
        phrases = [first or self._nouns.group([p.args[0] for p in group], kind.roles[0].need)]
        phrases += [self._nouns.one(arg, role.need) for arg, role in zip(group[0].args[1:], kind.roles[1:], strict=True)]
        template = words.undo if undo else words.do
        if words.alike and not undo and self._nouns.alike([*(p.args[0] for p in group), *group[0].args[1:]]):
            template = words.alike
        short = "" if len(phrases) == 1 and not template.startswith("把") else "它"
        if self._last_was_place and kind.roles[0].need == "movable":  # "put it" after "in the bowl" would be what is in the bowl
            self._last = ""
        text = template.format(self._pronoun(phrases[0], short), *(self._pronoun(p, p) for p in phrases[1:]), **numbers)
        self._last, self._last_was_place = phrases[-1], len(phrases) > 1
        return text

    def _pronoun(self, phrase: str, short: str) -> str:
        """The phrase, or right after it has been named what stands for it: "it", or in Chinese `short`."""
        if phrase != self._last:
            return phrase
        return "it" if self._language == "en" else short

    def _list(self, clauses: list[str], word: str) -> str:
        head, last = clauses[:-1], clauses[-1]
        if not head:
            return last
        joint = self._join[word]
        if self._language == "zh" and word == "all" and len(last) <= 3:  # "并关上": too short for a pause
            joint = "并"
        return self._join["comma"].join(head) + joint + last


def _said_last(goal: Goal) -> bool:
    return isinstance(goal, Predicate) and predicate(goal.name).said_last


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


def _asked(text: str, language: Language) -> dict[str, set[str]]:
    """Verbs found in the text, longest first and each stretch of text once, with the predicates each can ask for."""
    kinds = {name: predicate(name).words[language] for name in predicate_names()}
    meanings: dict[str, set[str]] = {}
    for name, words in kinds.items():
        for verb in words.verbs:
            meanings.setdefault(verb, set()).add(name)
    found: dict[str, set[str]] = {}
    whole = text
    text = _without_nouns(text, language)
    for verb in sorted(meanings, key=lambda v: (-len(v), v)):
        left, count = re.subn(_pattern(verb, language), " _ ", text)
        if count:
            text = left
            names = meanings[verb]
            found[verb] = {n for n in names if len(names) == 1 or _marked(whole, kinds[n], language)} or names
    return found


def _without_nouns(text: str, language: Language) -> str:
    """The text without the names of things, which may hold verbs: "stand", "立方体"."""
    nouns = {noun for category in assets.categories().values() for noun in category.names.get(language, ())}
    for noun in sorted(nouns, key=lambda n: (-len(n), n)):
        text = re.sub(rf"\b{re.escape(noun)}\b" if language == "en" else re.escape(noun), " _ ", text)
    return text


def _marked(text: str, words: Words, language: Language) -> bool:
    return not words.marks or any(re.search(_pattern(mark, language), text) for mark in words.marks)


def _pattern(word: str, language: Language) -> str:
    if language == "zh":
        return re.escape(word)
    return rf"\b{re.escape(word)}(?:s|d|ed|ing|ting|ped|ping)?\b"
