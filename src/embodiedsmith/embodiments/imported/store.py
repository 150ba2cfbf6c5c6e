"""Where imported robots are kept: a folder each in the user's data folder with a description and a model made fit for work.

A robot's name ends in eight digits of its content, so that a scenario made with it is refused once the import has changed.
"""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated

import mujoco
from pydantic import Field, ValidationError

from embodiedsmith.embodiments import contact
from embodiedsmith.embodiments.description import Arm, Base, Gripper, Robot, RobotCamera
from embodiedsmith.embodiments.errors import EmbodimentError
from embodiedsmith.runtime.files import storage_errors, write_atomic
from embodiedsmith.runtime.home import home
from embodiedsmith.spec import Noun
from embodiedsmith.spec.scene import ID_PATTERN

FORMAT = 1
RECORD, MODEL, MESHES = "robot.json", "model.xml", "meshes"

Numbers = tuple[float, ...]
Words = tuple[str, ...]


class RobotRecord(Noun):
    """A robot's description as it is kept; fields as in `Arm`, `Gripper` and `Base`."""

    format: int = FORMAT
    name: Annotated[str, Field(pattern=ID_PATTERN, max_length=40)]
    title: str
    licence: str
    source: str
    source_sha256: str
    joints: Words
    home: Numbers
    velocity_limits: Numbers
    acceleration_limits: Numbers
    reach: float
    gripper_actuators: Words
    open_ctrl: Numbers
    closed_ctrl: Numbers
    gripper_joints: Words
    open_qpos: Numbers
    closed_qpos: Numbers
    fingers: tuple[Words, Words]
    max_width: float
    force: float
    speed: float
    palm: str
    excluded: tuple[tuple[str, str], ...]
    footprint: tuple[float, float]
    meshes: Words
    """Mesh files of the model."""
    guesses: Words = ()
    """What was concluded from the model, for people."""
    notes: Words = ()
    """What is missing, was changed or should be looked at, for people."""
    model_sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class ImportedRobot:
    """An imported robot as it is kept."""

    record: RobotRecord = field(compare=False)
    folder: str
    digest: str

    @property
    def name(self) -> str:
        """Its name among all robots."""
        return f"{self.record.name}_{self.digest}"


def folder() -> Path:
    """Where imported robots are kept."""
    return home() / "robots"


def save(record: RobotRecord, text: str, meshes: dict[str, bytes], *, replace: bool) -> ImportedRobot:
    """Keep a robot; raises EmbodimentError when there is one of that name and `replace` is not given."""
    target = folder() / record.name
    if target.exists() and not replace:
        raise EmbodimentError(
            f"robot '{record.name}' has been imported before", where=str(target), remedy="give --replace, or another --name"
        )
    kept = record.model_copy(update={"meshes": tuple(sorted(meshes)), "model_sha256": _digest(text, meshes)})
    with storage_errors(target):
        shutil.rmtree(target, ignore_errors=True)
        (target / MESHES).mkdir(parents=True)
    for name, data in meshes.items():
        write_atomic(target / MESHES / name, data)
    write_atomic(target / MODEL, text.encode("utf-8"))
    write_atomic(target / RECORD, (kept.to_json(indent=2) + "\n").encode("utf-8"))
    return ImportedRobot(record=kept, folder=str(target), digest=kept.content_id()[:8])


def remove(name: str) -> None:
    """Forget an imported robot."""
    with storage_errors(folder() / name):
        shutil.rmtree(folder() / name)


def load_all() -> tuple[ImportedRobot, ...]:
    """Every imported robot, by name; raises EmbodimentError naming the folder of one that cannot be read."""
    try:
        found = sorted(folder().iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return ()
    stamps = tuple((path.name, (path / RECORD).stat().st_mtime_ns) for path in found if (path / RECORD).is_file())
    return _load_all(str(folder()), stamps)


@lru_cache(maxsize=8)
def _load_all(place: str, stamps: tuple[tuple[str, int], ...]) -> tuple[ImportedRobot, ...]:
    return tuple(_load(Path(place) / name) for name, _ in stamps)


def _load(target: Path) -> ImportedRobot:
    path = target / RECORD
    remedy = f"import it again, or move {target} away"
    with storage_errors(path):
        data = path.read_bytes()
    try:
        record = RobotRecord.from_json(data)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:5]]
        raise EmbodimentError("this is no record of a robot", where=str(path), faults=faults, remedy=remedy) from error
    if record.format != FORMAT or record.name != target.name or any("/" in name or "\\" in name for name in record.meshes):
        raise EmbodimentError(f"a record of format {record.format} for '{record.name}'", where=str(path), remedy=remedy)
    return ImportedRobot(record=record, folder=str(target), digest=record.content_id()[:8])


@lru_cache(maxsize=32)
def as_robot(kept: ImportedRobot) -> Robot:
    """The robot of a record."""
    record = kept.record
    gripper = Gripper(
        actuators=record.gripper_actuators,
        open_ctrl=record.open_ctrl,
        closed_ctrl=record.closed_ctrl,
        joints=record.gripper_joints,
        open_qpos=record.open_qpos,
        closed_qpos=record.closed_qpos,
        finger_bodies=record.fingers,
        max_width=record.max_width,
        force=record.force,
        speed=record.speed,
    )
    arm = Arm(
        joints=record.joints,
        actuators=record.joints,
        home=record.home,
        velocity_limits=record.velocity_limits,
        acceleration_limits=record.acceleration_limits,
        tcp_site="tcp",
        gripper=gripper,
        reach=record.reach,
    )
    return Robot(
        name=kept.name,
        title=record.title,
        licence=record.licence,
        source=record.source,
        build=partial(_build, kept),
        base=Base(kind="fixed", radius=max(0.2, *(0.6 * side for side in record.footprint)), footprint=record.footprint),
        arms=(arm,),
        cameras=(RobotCamera(name="wrist", body=record.palm),),
        excluded_collisions=record.excluded,
    )


def _build(kept: ImportedRobot) -> mujoco.MjSpec:
    return _parsed(kept).copy()


@lru_cache(maxsize=8)
def _parsed(kept: ImportedRobot) -> mujoco.MjSpec:
    """The model as it is kept; raises EmbodimentError when its files are not what the record was written with."""
    target = Path(kept.folder)
    with storage_errors(target):
        text = (target / MODEL).read_text("utf-8")
        meshes = {name: (target / MESHES / name).read_bytes() for name in kept.record.meshes}
    if _digest(text, meshes) != kept.record.model_sha256:
        remedy = f"import it again, or move {target} away"
        raise EmbodimentError(f"the model of '{kept.record.name}' has changed", where=str(target), remedy=remedy)
    spec = mujoco.MjSpec.from_string(text, assets=meshes)
    contact.OPTIONS.apply(spec)
    return spec


def _digest(text: str, meshes: dict[str, bytes]) -> str:
    digest = hashlib.sha256(text.encode("utf-8"))
    for name in sorted(meshes):
        digest.update(name.encode() + hashlib.sha256(meshes[name]).digest())
    return digest.hexdigest()
