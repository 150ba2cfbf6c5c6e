"""JSON schemas of the spec, for editors, other languages and language models."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from embodiedsmith.spec.asked import Asked
from embodiedsmith.spec.base import Noun
from embodiedsmith.spec.edits import Edit
from embodiedsmith.spec.findings import Finding
from embodiedsmith.spec.pose import Pose
from embodiedsmith.spec.scenario import Brief, EmbodimentSpec, Provenance, Randomization, Scenario
from embodiedsmith.spec.scene import AssetSpec, CameraSpec, Item, LightSpec, SceneSpec
from embodiedsmith.spec.task import Goal, Predicate, TaskSpec

_NOUNS: tuple[type[Noun], ...] = (
    Asked, AssetSpec, Brief, CameraSpec, EmbodimentSpec, Finding, Item, LightSpec, Pose, Predicate, Provenance, Randomization,
    Scenario, SceneSpec, TaskSpec,
)  # fmt: skip


def json_schemas() -> dict[str, dict[str, Any]]:
    """A JSON schema (draft 2020-12) for every noun by name, and for the unions `Goal` and `Edit`; all refuse unknown keys."""
    schemas = {noun.__name__: noun.model_json_schema() for noun in _NOUNS}
    schemas["Goal"] = TypeAdapter(Goal).json_schema()
    schemas["Edit"] = TypeAdapter(Edit).json_schema()
    return dict(sorted(schemas.items()))
