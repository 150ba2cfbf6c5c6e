"""What can be said: frozen, documented values without behaviour. JSON in, JSON out."""

from embodiedsmith.spec.asked import Asked, AskedItem
from embodiedsmith.spec.base import Noun, digest
from embodiedsmith.spec.edits import (
    EMBODIMENT_EDITS,
    SCENE_EDITS,
    TASK_EDITS,
    AddItem,
    ChangeArgument,
    ChangeEmbodiment,
    ChangeSupport,
    Edit,
    EditKind,
    LayOut,
    MoveBase,
    MoveItem,
    RemoveItem,
    Rephrase,
    Resize,
    SetJoint,
    SetTolerance,
    SplitGoal,
    SwapAsset,
    TurnItem,
    Unblock,
)
from embodiedsmith.spec.findings import Finding
from embodiedsmith.spec.pose import Pose, Quat, Vec3
from embodiedsmith.spec.rooms import Doorway, Room, Wall
from embodiedsmith.spec.scenario import Area, Brief, EmbodimentSpec, Provenance, Randomization, Scenario
from embodiedsmith.spec.scene import AssetSpec, CameraSpec, Item, LightSpec, SceneSpec
from embodiedsmith.spec.schema import json_schemas
from embodiedsmith.spec.task import All, Any, Goal, Language, Not, Predicate, Sequence, TaskSpec, predicates, split_reference

__all__ = [
    "EMBODIMENT_EDITS", "SCENE_EDITS", "TASK_EDITS", "AddItem", "All", "Any", "Area", "Asked", "AskedItem", "AssetSpec", "Brief",
    "CameraSpec", "ChangeArgument", "ChangeEmbodiment", "ChangeSupport", "Doorway", "Edit", "EditKind", "EmbodimentSpec",
    "Finding", "Goal", "Item", "Language", "LayOut", "LightSpec", "MoveBase", "MoveItem", "Not", "Noun", "Pose", "Predicate",
    "Provenance", "Quat", "Randomization", "RemoveItem", "Rephrase", "Resize", "Room", "Scenario", "SceneSpec", "Sequence",
    "SetJoint", "SetTolerance", "SplitGoal", "SwapAsset", "TaskSpec", "TurnItem", "Unblock", "Vec3", "Wall", "digest",
    "json_schemas", "predicates", "split_reference",
]  # fmt: skip
