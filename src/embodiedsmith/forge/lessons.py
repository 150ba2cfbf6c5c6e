"""Lessons: for each finding code and context, which kinds of edit cured it and at what cost. They order later tries.

Kept across runs as JSON that a person can read. A run works from the lessons as they were when it began (its own copy), so that
what it makes depends on nothing that happens meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field, ValidationError

from embodiedsmith import embodiments
from embodiedsmith.assets import categories
from embodiedsmith.runtime.errors import SmithError
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.home import home
from embodiedsmith.spec import EditKind, Finding, Noun, Scenario, split_reference

FORMAT = 1
PRIOR = 2.0
"""How many tries the declared order of cures counts for."""
HOPE = 0.5
"""Chance that the first kind declared for a code cures it, before anything was tried; the k-th has 1/k of it."""
USUAL_COST = 10.0
"""What a try costs before anything was tried [units]."""


class Outcome(Noun):
    """One repair that was tried."""

    context: str
    """See `context_of`."""
    kind: EditKind
    cured: bool
    """Whether the scenario came farther by it: through more critics, or with fewer errors."""
    units: float = Field(ge=0.0)
    """What judging it cost: simulated seconds and plans."""


class Record(Noun):
    """How one kind of edit has done in one context."""

    tried: int = Field(default=0, ge=0)
    cured: int = Field(default=0, ge=0)
    units: float = Field(default=0.0, ge=0.0)
    """Cost of all tries: simulated seconds and plans."""


class Lessons(Noun):
    """Everything learnt so far: context to kind of edit to record."""

    format: int = FORMAT
    records: dict[str, dict[EditKind, Record]] = Field(default_factory=dict)

    def order(self, finding: Finding, scenario: Scenario) -> tuple[EditKind, ...]:
        """Kinds of edit that could cure a finding, those that promise most for their cost first.

        Each kind's chance is its record's, joined with the declared order as if that had been seen `PRIOR` times.
        """
        known = self.records.get(context_of(finding, scenario), {})

        def promise(place: int, kind: EditKind) -> float:
            record = known.get(kind, Record())
            chance = (record.cured + PRIOR * HOPE / (place + 1)) / (record.tried + PRIOR)
            return chance * (record.tried + PRIOR) / (record.units + PRIOR * USUAL_COST)

        ranked = sorted(enumerate(finding.cures), key=lambda entry: (-promise(*entry), entry[0]))
        return tuple(kind for _, kind in ranked)

    def learn(self, outcomes: Iterable[Outcome]) -> Lessons:
        """These lessons with more tries added."""
        records = {context: dict(kinds) for context, kinds in self.records.items()}
        for outcome in outcomes:
            kinds = records.setdefault(outcome.context, {})
            old = kinds.get(outcome.kind, Record())
            kinds[outcome.kind] = Record(
                tried=old.tried + 1, cured=old.cured + outcome.cured, units=round(old.units + outcome.units, 3)
            )
        return Lessons(records={context: dict(sorted(records[context].items())) for context in sorted(records)})


def context_of(finding: Finding, scenario: Scenario) -> str:
    """What the lesson is about: the code, how the robot is based, and what kind of thing is concerned."""
    name = scenario.embodiment.name
    base = f"{embodiments.get(name).base.kind} robot" if name in embodiments.names() else "unknown robot"
    return f"{finding.code} / {base} / {_subject(finding, scenario)}"


def _subject(finding: Finding, scenario: Scenario) -> str:
    if not finding.subjects:
        return "nothing named"
    name, part = split_reference(finding.subjects[0])
    item = next((i for i in scenario.scene.items if i.id == name), None)
    if item is None or item.asset.category not in categories():
        return "robot" if name == "robot" else "nothing named"
    role = categories()[item.asset.category].role
    return f"part of {role}" if part else role


def store_path() -> Path:
    """Where lessons are kept across runs: `lessons.json` in `EMBODIEDSMITH_HOME`, else in the user's data folder."""
    return home() / "lessons.json"


def load(path: Path) -> Lessons:
    """Lessons of a file; none yet when there is no file.

    Raises:
        SmithError: The file cannot be read as lessons; it is left as it is.
    """
    if not path.is_file():
        return Lessons()
    with storage_errors(path):
        data = path.read_bytes()
    try:
        lessons = Lessons.from_json(data)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:5]]
        raise SmithError("these are no lessons", where=str(path), faults=faults, remedy="move the file away") from error
    if lessons.format != FORMAT:
        raise SmithError(f"lessons of format {lessons.format}, not {FORMAT}", where=str(path), remedy="move the file away")
    return lessons


def save(path: Path, lessons: Lessons) -> None:
    """Write lessons whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, (lessons.to_json(indent=2) + "\n").encode("utf-8"))
