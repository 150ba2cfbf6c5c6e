"""How a brief was understood, told back: the goal, what must be so at the start, and what was chosen freely."""

from __future__ import annotations

from collections.abc import Iterator

from embodiedsmith.assets import COLORS, TAGS, categories
from embodiedsmith.spec import Asked, AskedItem, Item, Language, Scenario
from embodiedsmith.tasks.nouns import Nouns, plural

_SETTINGS: dict[str, str] = {"tabletop": "桌面", "counter": "台面", "kitchen": "厨房", "room": "房间"}
_RELATIONS: dict[Language, dict[str, str]] = {
    "en": {
        "left_of": "{0} is to the left of {1}", "right_of": "{0} is to the right of {1}", "in_front_of": "{0} is in front of {1}",
        "behind": "{0} is behind {1}", "near": "{0} is next to {1}", "between": "{0} is between {1} and {2}",
        "on": "{0} is on {1}", "inside": "{0} is in {1}", "open": "{0} is open", "closed": "{0} is closed",
        "turned": "{0} is turned",
    },
    "zh": {
        "left_of": "{0}在{1}左边", "right_of": "{0}在{1}右边", "in_front_of": "{0}在{1}前面", "behind": "{0}在{1}后面",
        "near": "{0}在{1}旁边", "between": "{0}在{1}和{2}之间", "on": "{0}在{1}上", "inside": "{0}在{1}里", "open": "{0}开着",
        "closed": "{0}关着", "turned": "{0}转过",
    },
}  # fmt: skip
"""Statements of how things are."""


def reading(scenario: Scenario, asked: Asked, language: Language) -> str:
    """What was understood of a brief, in its language, for its writer to check."""
    goal = scenario.task.instructions[language]
    starts = [*_starts(scenario, asked, language), *_about(scenario, asked, language)]
    chosen = list(_chosen(scenario, asked, language))
    if language == "zh":
        parts = [f"我的理解是：{goal}", "开始时" + "，".join(starts) if starts else "", f"自己选的有{'、'.join(chosen)}"]
        return "；".join(part for part in parts if part) + "。"
    parts = [
        f"I understood: {goal}",
        f"at the start {', '.join(starts)}" if starts else "",
        f"chosen freely: {', '.join(chosen)}",
    ]
    return "; ".join(part for part in parts if part)


def _starts(scenario: Scenario, asked: Asked, language: Language) -> Iterator[str]:
    """Where things are and what is open, as far as the words say it."""
    nouns, say = Nouns(scenario.scene, language, scenario.task.initial), _RELATIONS[language]
    for entry in asked.items:
        if entry.parent is not None and entry.relation in say:
            parent = entry.parent if entry.support is None else f"{entry.parent}.{entry.support}"
            carrier = nouns.one(parent, "cavity" if entry.relation == "inside" else "support")
            yield say[entry.relation].format(nouns.one(entry.item), carrier)
        for joint, state in entry.joints.items():
            yield say[state].format(nouns.one(f"{entry.item}.{joint}", "joint"))
    for relation in scenario.task.initial:
        yield say[relation.name].format(*(nouns.one(arg) for arg in relation.args))


def _about(scenario: Scenario, asked: Asked, language: Language) -> Iterator[str]:
    """What else is there or is not."""
    zh = language == "zh"
    if asked.setting is not None:
        yield f"在{_SETTINGS[asked.setting]}" if zh else f"it is a {asked.setting}"
    if asked.at_least:
        yield f"至少有{asked.at_least}样东西" if zh else f"there are at least {asked.at_least} things"
    for word, count in asked.counted.items():
        yield f"一共有{count}个{_word(word, language)}" if zh else f"there are {count} {plural(_word(word, language))} in all"
    for word in asked.absent:
        yield f"没有{_word(word, language)}" if zh else f"there is no {_word(word, language)}"


def _word(word: str, language: Language) -> str:
    known = categories()
    return known[word].names[language][0] if word in known else TAGS[word][language][0]


def _chosen(scenario: Scenario, asked: Asked, language: Language) -> Iterator[str]:
    """Setting, things and looks that no word asked for."""
    scene = scenario.scene
    if asked.setting is None:
        yield _SETTINGS[scene.setting] if language == "zh" else scene.setting
    said = {entry.item: entry for entry in asked.items}
    for item in scene.items:
        entry = said.get(item.id)
        if entry is None or _free(item, entry):
            yield _looks(item, language)
    if asked.embodiment is None:
        yield scenario.embodiment.name


def _free(item: Item, entry: AskedItem) -> bool:
    """Whether a thing that was spoken of has a kind or a colour that nobody asked for."""
    return len(entry.categories) > 1 or (item.asset.color is not None and entry.color is None)


def _looks(item: Item, language: Language) -> str:
    noun = categories()[item.asset.category].names[language][0]
    color = COLORS[item.asset.color].names[language][0] if item.asset.color is not None else ""
    if language == "zh":
        return f"{color}的{noun}" if color else noun
    return f"{color} {noun}".strip()
