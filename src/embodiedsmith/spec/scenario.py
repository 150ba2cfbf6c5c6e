"""Brief, embodiment, randomisation, and the scenario they become."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from embodiedsmith.spec.asked import Asked
from embodiedsmith.spec.base import Noun, digest
from embodiedsmith.spec.pose import Pose
from embodiedsmith.spec.scene import ID_PATTERN, SceneSpec
from embodiedsmith.spec.task import TaskSpec

Range = tuple[float, float]
Mode = Literal["none", "resample", "scene", "task", "joint"]
AgentName = Literal["rule", "llm"]


class Brief(Noun):
    """What a user asked for."""

    text: str = Field(min_length=1, max_length=2000)
    embodiment: str = Field(default="panda", pattern=ID_PATTERN)
    """Name of the robot, or `any`: the forge may choose."""
    agent: AgentName = "rule"
    mode: Mode = "joint"
    seed: int = Field(default=0, ge=0)


class EmbodimentSpec(Noun):
    """Which robot, and where it stands."""

    name: str = Field(default="panda", pattern=ID_PATTERN)
    base: Pose | None = None
    """World pose of the robot's base frame; empty until laid out."""


class Area(Noun):
    """How far one free item may be from where it is laid out. Ranges are uniform."""

    x: Range = (0.0, 0.0)
    """Shift along world x [m]."""
    y: Range = (0.0, 0.0)
    """Shift along world y [m]."""
    yaw: float = Field(default=0.0, ge=0.0, le=3.15)
    """Largest turn about its support's normal [rad]."""


class Randomization(Noun):
    """What varies from attempt to attempt of one scenario. Ranges are uniform; scales multiply."""

    position: float = Field(default=0.02, ge=0.0, le=0.5)
    """Largest shift of each free item along x and y of its support [m]."""
    yaw: float = Field(default=0.26, ge=0.0, le=3.15)
    """Largest turn of each free item about its support's normal [rad]."""
    areas: dict[str, Area] = Field(default_factory=dict, exclude_if=lambda areas: not areas)
    """By item id, how far an item may be instead, where `position` and `yaw` do not suit it."""
    robot_joints: float = Field(default=0.02, ge=0.0, le=0.5)
    """Largest offset of each arm joint from home [rad]."""
    friction: Range = (1.0, 1.0)
    """Scale of the sliding friction of free items."""
    mass: Range = (1.0, 1.0)
    """Scale of the mass (and inertia) of free items."""
    torque_noise: float = Field(default=0.0, ge=0.0, le=1.0)
    """Standard deviation of actuator force noise, as a fraction of the applied force."""
    observation_noise: float = Field(default=0.0, ge=0.0, le=1.0)
    """Standard deviation of observation noise, as a fraction of each observed value; of a place, of its distance from the nearest
    tool."""
    light: Range = (0.8, 1.2)
    """Scale of the light intensity."""
    camera: float = Field(default=0.0, ge=0.0, le=0.2)
    """Largest shift of each scene camera along each axis [m]."""


class Provenance(Noun):
    """Where a scenario came from. Not part of its id: the same world asked for twice is the same scenario."""

    brief: Brief | None = None
    agent: str = "rule"
    seed: int = 0
    index: int = 0
    """Which of the scenarios drawn for the brief this is."""
    proposals: int = 1
    """How many proposals were drawn until this one passed."""
    edits: int = 0
    """How many edits the last of them took."""
    asked: Asked | None = None
    """What the user's words fix about it."""
    versions: dict[str, str] = Field(default_factory=dict)


class Scenario(Noun):
    """Everything needed to rebuild the world, bit for bit, with a seed."""

    scene: SceneSpec
    task: TaskSpec
    embodiment: EmbodimentSpec = Field(default_factory=EmbodimentSpec)
    randomization: Randomization = Field(default_factory=Randomization)
    provenance: Provenance = Field(default_factory=Provenance)

    @property
    def id(self) -> str:
        """Hash of scene, task, embodiment and randomisation: sixteen hexadecimal digits."""
        return digest(self.model_dump(mode="json", exclude={"provenance"}))
