"""What can be said: frozen, documented values without behaviour. JSON in, JSON out."""

from embodiedsmith.spec.base import Noun, digest
from embodiedsmith.spec.findings import (
    AddItem,
    ChangeEmbodiment,
    ChangeSupport,
    Edit,
    Finding,
    MoveBase,
    MoveItem,
    RemoveItem,
    SetGoal,
    SetJoint,
    SwapAsset,
)
from embodiedsmith.spec.pose import Pose, Quat, Vec3
from embodiedsmith.spec.scenario import Brief, EmbodimentSpec, Provenance, Randomization, Scenario
from embodiedsmith.spec.scene import AssetSpec, CameraSpec, Item, LightSpec, SceneSpec
from embodiedsmith.spec.schema import json_schemas
from embodiedsmith.spec.task import All, Any, Goal, Language, Not, Predicate, Sequence, TaskSpec, predicates, split_reference

__all__ = [
    "AddItem", "All", "Any", "AssetSpec", "Brief", "CameraSpec", "ChangeEmbodiment", "ChangeSupport", "Edit",
    "EmbodimentSpec", "Finding", "Goal", "Item", "Language", "LightSpec", "MoveBase", "MoveItem", "Not", "Noun",
    "Pose", "Predicate", "Provenance", "Quat", "Randomization", "RemoveItem", "Scenario", "SceneSpec", "Sequence",
    "SetGoal", "SetJoint", "SwapAsset", "TaskSpec", "Vec3", "digest", "json_schemas", "predicates", "split_reference",
]  # fmt: skip
