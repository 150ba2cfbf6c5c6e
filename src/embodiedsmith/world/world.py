"""The simulated world of one scenario: reset, step, look, touch, save, restore.

Action. The canonical action is `[base joint targets (planar bases only), arm joint targets, gripper]`: absolute joint
positions to be reached at the end of the control step [m, rad], gripper 0 open to 1 closed. Between the previous action
and this one the targets move on a straight line over the substeps, with velocity feed-forward, so that a servo
tracks without lag.

State. `save()` returns MuJoCo's integration state followed by the last action: with the same scenario and reset draws it
replays bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

import mujoco
import numpy as np

from embodiedsmith.assets.asset import Asset, Cavity, Handle, Support
from embodiedsmith.embodiments.actions import hand_names
from embodiedsmith.embodiments.description import Gripper
from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.spec import Finding, Scenario, split_reference
from embodiedsmith.world import transforms as tf
from embodiedsmith.world.compile import PHYSICS_HZ, ROBOT, Compiled, compile_scenario, joint_position, palm_pose
from embodiedsmith.world.errors import SettleError, WorldFault
from embodiedsmith.world.flow import Flow
from embodiedsmith.world.footing import Footing
from embodiedsmith.world.heaps import Heap
from embodiedsmith.world.liquid.vessel import CALM, Vessels, liquid_items
from embodiedsmith.world.marks import Marks, marked, rub, show
from embodiedsmith.world.points import Points
from embodiedsmith.world.sheets import Sheet, grant, pinch
from embodiedsmith.world.variation import Parts, Told, Variation

if TYPE_CHECKING:
    from embodiedsmith.world.liquid.liquids import Liquids

CONTROL_HZ = 20
SETTLE_SPEED = 0.01  # [m/s] fastest free item counted as at rest
SETTLE_TURN = 0.1  # [rad/s]
SETTLE_SHIFT = 0.02  # [m] farthest an item may move while settling
SETTLE_SECONDS = 1.5
OVERLAP = 0.001  # [m] deepest contact between items accepted at reset
MIDDLE = 0.25  # of a loose support's length: farthest from its middle that variation takes what stands on it
CLOCK_DRIFT = 1e-9  # [s] most that a control step may be off
STATE = mujoco.mjtState.mjSTATE_INTEGRATION
"""What `World.save` keeps of the engine."""


class Contact(NamedTuple):
    """A pair of owners in contact: item ids, `robot`, `finger_0`, `finger_1`, or `world`."""

    first: str
    second: str


class Readable(Protocol):
    """The fields of MjData that observations are made of, of one state or, with one more dimension in front, of many."""

    qpos: tf.Float
    qvel: tf.Float
    ctrl: tf.Float
    site_xpos: tf.Float
    site_xmat: tf.Float
    xpos: tf.Float
    xquat: tf.Float


@dataclass(frozen=True)
class _ItemIndex:
    """Where an item lives in the model's arrays."""

    body: int
    qpos: int
    """Address of the free joint's position; -1 for fixed items."""
    dof: int
    bodies: np.ndarray
    geoms: np.ndarray


class World:
    """A compiled scenario with its state. Not thread-safe; one a worker.

    Args:
        scenario: A laid-out scenario.
        control_hz: Control steps a second; must divide `physics_hz`.
        physics_hz: Physics steps a second; None: as many as what is in the scene needs.
        compiled: What the scenario was compiled to before: this world owns it, and changes its model; None: compile it now.
        remember: How many resets are remembered: one with the same draws then takes the state it came to before, the same bits,
            and simulates nothing. Only for worlds whose model nobody changes.

    Raises:
        CompileError: the scenario cannot be built.
        UsageError: the rates do not divide.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        control_hz: int = CONTROL_HZ,
        physics_hz: int | None = None,
        compiled: Compiled | None = None,
        remember: int = 0,
    ) -> None:
        rate = PHYSICS_HZ if physics_hz is None else physics_hz
        if control_hz <= 0 or rate % control_hz:
            valid = [str(h) for h in range(5, 121) if rate % h == 0]
            raise UsageError(f"control rate {control_hz} Hz does not divide {rate} Hz", choices=valid)
        self.compiled: Compiled = compile_scenario(scenario, physics_hz=physics_hz) if compiled is None else compiled
        self.scenario = scenario
        self.model = self.compiled.model
        self.robot = self.compiled.robot
        self.data = mujoco.MjData(self.model)
        rate = round(1.0 / self.model.opt.timestep)
        self.substeps: int = rate // control_hz
        self.control_dt: float = self.substeps / rate
        self.assets: dict[str, Asset] = self.compiled.assets
        self._index_items()
        self._index_robot()
        self.marks = {name: Marks.of(self, name) for name in marked(self.assets)}
        """Items of marks."""
        self._index_observation()
        free = {name: Parts(self.items[name].bodies, self.items[name].geoms) for name in self._free}
        self._variation = Variation(self.model, free, scenario.randomization)
        self._state_size = mujoco.mj_stateSize(self.model, STATE)
        self._vessels = Vessels(self.model, self.assets)
        self.liquids = self._find_liquids()
        """The liquids of the scene; None: there are none."""
        self.flow = Flow(
            model=self.model, data=self.data, scene=scenario.scene, assets=self.assets, vessels=self._vessels, heaps=self.heaps,
            liquids=self.liquids,
        )  # fmt: skip
        """Liquids and grains, and how much of them is where."""
        self.command = np.zeros(self.action_size)
        self.simulated = 0.0
        """Seconds of physics computed so far, settling included: what this world has cost [s]."""
        self._remember = remember
        self._resets: dict[str, tuple[tf.Float, tuple[Finding, ...]]] = {}

    # ------------------------------------------------------------------ indices

    def _index_items(self) -> None:
        model = self.model
        self.items: dict[str, _ItemIndex] = {}
        self.heaps: dict[str, Heap] = {}
        """Items of grains."""
        self.sheets: dict[str, Sheet] = {}
        """Items of cloth."""
        for item in self.scenario.scene.items:
            body = model.body(f"{item.id}/root").id
            bodies = np.array([b for b in range(model.nbody) if model.body(b).name.startswith(f"{item.id}/")], dtype=int)
            geoms = np.flatnonzero(np.isin(model.geom_bodyid, bodies))
            qpos = dof = -1
            matter = self.assets[item.id].matter
            if matter is not None and matter.kind == "cloth":
                self.sheets[item.id] = Sheet.of(self.compiled, item.id)
            elif matter is not None and matter.kind == "grains":
                self.heaps[item.id] = Heap.of(model, item.id, self.assets[item.id], self.compiled.nominal[item.id])
            elif not item.fixed and not (matter is not None and matter.kind == "liquid"):
                joint = model.joint(f"{item.id}/free")
                qpos, dof = int(joint.qposadr[0]), int(joint.dofadr[0])
            self.items[item.id] = _ItemIndex(body, qpos, dof, bodies, geoms)
        self.loose: dict[str, Points] = {**self.sheets, **self.heaps}
        """Items that are points without a root that moves."""
        self._free = [name for name, index in self.items.items() if index.dof >= 0]
        dofs = [np.arange(self.items[name].dof, self.items[name].dof + 6) for name in self._free]
        self._free_dofs = np.array(dofs, dtype=int).reshape(-1, 6)
        self.joint_qpos: dict[str, int] = {}
        self.joint_dof: dict[str, int] = {}
        for item_id, asset in self.assets.items():
            for name in asset.joints:
                joint = model.joint(f"{item_id}/{name}")
                self.joint_qpos[f"{item_id}.{name}"] = int(joint.qposadr[0])
                self.joint_dof[f"{item_id}.{name}"] = int(joint.dofadr[0])

    def _find_liquids(self) -> Liquids | None:
        if not liquid_items(self.scenario.scene, self.assets):
            return None
        from embodiedsmith.world.liquid.liquids import Liquids  # brings a compiler along

        hands = {int(self.model.site_bodyid[site]) for site in self.tcp_sites}
        for body in range(self.model.nbody):  # parents come first
            if int(self.model.body_parentid[body]) in hands:
                hands.add(body)
        return Liquids(self.model, self.scenario.scene, self.assets, sorted(hands), self._vessels)

    def _index_robot(self) -> None:
        model, robot = self.model, self.robot
        names = (*robot.base.joints, *(j for arm in robot.arms for j in arm.joints))
        actuators = (*robot.base.actuators, *(a for arm in robot.arms for a in arm.actuators))
        self.robot_qpos = np.array([model.joint(ROBOT + n).qposadr[0] for n in names], dtype=int)
        self.robot_dof = np.array([model.joint(ROBOT + n).dofadr[0] for n in names], dtype=int)
        self._servo = np.array([model.actuator(ROBOT + n).id for n in actuators], dtype=int)
        kp = model.actuator_gainprm[self._servo, 0]
        self._feed = -model.actuator_biasprm[self._servo, 2] / kp
        self._index_servos()
        self.grippers = [arm.gripper for arm in robot.arms]
        self._finger_servos = [[model.actuator(ROBOT + a).id for a in hand.actuators] for hand in self.grippers]
        self.finger_qpos = [[int(model.joint(ROBOT + j).qposadr[0]) for j in arm.gripper.joints] for arm in robot.arms]
        self.tcp_sites = [model.site(ROBOT + arm.tcp_site).id for arm in robot.arms]
        self._telling = [_first_moving(hand) for hand in self.grippers]
        self._dexterous_qpos = [q if hand.dexterous else [] for q, hand in zip(self.finger_qpos, self.grippers, strict=True)]
        self.base_body = model.body(f"{ROBOT}base").id
        self.joint_count = len(names)
        self.arm_slices = _slices(len(robot.base.joints), [len(arm.joints) for arm in robot.arms])
        """Where each arm's joints are in `robot_qpos` and in actions."""
        self.hand_slices = _slices(self.joint_count, [hand.size for hand in self.grippers])
        """Where each hand is in actions."""
        self.action_size = self.hand_slices[-1].stop
        self.action_names = (*names, *hand_names(robot))
        self.in_hand = tuple(item.id for item in self.scenario.scene.items if item.relation == "held")
        """Items that lie in the palm at the start."""
        cradle = robot.cradle if self.in_hand else None
        self._fingers = [hand.action(0.0) for hand in self.grippers]  # at the start: open
        homes = [np.asarray(arm.home) for arm in robot.arms]
        if cradle is not None:
            homes[0], self._fingers[0] = np.asarray(cradle.joints), cradle.fingers
        home = np.concatenate([np.zeros(len(robot.base.joints)), *homes])
        if robot.base.kind == "planar":
            base = self.scenario.embodiment.base
            assert base is not None
            home[:3] = base.position[0], base.position[1], base.yaw
        self.home = home
        self.footing: Footing | None = None
        """How it stands, for a robot on its own feet."""
        self.least_margin = np.inf
        """Least centre-of-pressure margin since the last reset or restore [m]; infinite for a robot without feet."""
        if robot.onboard is not None:
            assert self.scenario.embodiment.base is not None
            self.footing = Footing(model, robot, self._servo, tf.matrix(self.scenario.embodiment.base))
        self._label_owners()

    def _index_servos(self) -> None:
        """Numbers by which each servo turns control, position and velocity into force, and their limits."""
        model, servo = self.model, self._servo
        joints = model.dof_jntid[self.robot_dof]
        limited = {
            "ctrl": (model.actuator_ctrllimited[servo], model.actuator_ctrlrange[servo]),
            "force": (model.actuator_forcelimited[servo], model.actuator_forcerange[servo]),
            "joint": (model.jnt_actfrclimited[joints], model.jnt_actfrcrange[joints]),
        }
        ranges = {k: np.where(on[:, None].astype(bool), span, (-np.inf, np.inf)).T for k, (on, span) in limited.items()}
        self._ctrl_range = ranges["ctrl"]
        self._force_range = np.stack(
            [np.maximum(ranges["force"][0], ranges["joint"][0]), np.minimum(ranges["force"][1], ranges["joint"][1])]
        )
        self._gain = model.actuator_gainprm[servo, 0].copy()
        self._bias = model.actuator_biasprm[servo, :3].T.copy()

    def _label_owners(self) -> None:
        """Give every geom an owner: what a contact with it is a contact with."""
        model = self.model
        sides = [side for hand in self.grippers for side in hand.finger_bodies]
        self.owners: list[str] = ["world", "robot", *(f"finger_{k}" for k in range(len(sides))), *self.items]
        self.robot_owners = range(1, 2 + len(sides))
        """Indices into `owners` of what belongs to the robot."""
        owner_of_body = np.zeros(model.nbody, dtype=int)
        fingers = {ROBOT + name: 2 + k for k, side in enumerate(sides) for name in side}
        for body in range(1, model.nbody):
            name = model.body(body).name
            if name in fingers:
                owner_of_body[body] = fingers[name]
            elif owner_of_body[model.body_parentid[body]] in self.robot_owners[1:]:  # pads below a finger belong to it
                owner_of_body[body] = owner_of_body[model.body_parentid[body]]
            elif name.startswith(ROBOT):
                owner_of_body[body] = 1
            else:
                prefix = name.split("/", 1)[0]
                owner_of_body[body] = self.owners.index(prefix) if prefix in self.items else 0
        self.geom_owner = owner_of_body[model.geom_bodyid]
        if self.footing is not None:
            self.geom_owner[self.footing.feet] = 0  # that it stands on the ground is no contact of the robot with it
        flexes = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, k).split("/", 1)[0] for k in range(model.nflex)]
        of_flex = np.array([self.owners.index(item) for item in flexes], dtype=int)
        self.solid_owner = np.concatenate([self.geom_owner, of_flex])
        """Owner of every solid: geoms, then flexes; see `solids`."""

    def _index_observation(self) -> None:
        """Lay the observation out as one vector, so that observing is a few array copies."""
        fields: list[tuple[str, int]] = [
            ("joint_position", self.joint_count), ("joint_velocity", self.joint_count), ("effort", self.joint_count),
            ("gripper", len(self.grippers)),
        ]  # fmt: skip
        fields += [(f"tcp_pose{f'_{k}' if k else ''}", 7) for k in range(len(self.grippers))]
        fields += [("finger_position", sum(map(len, self._dexterous_qpos)))] if any(self._dexterous_qpos) else []
        fields += [("base_pose", 7)] if self.footing is not None else []
        fields += [(f"items/{name}", 7) for name in self.items]
        fields += [(f"points/{name}", sheet.qpos.size) for name, sheet in self.sheets.items()]
        fields += [(f"joints/{name}", 1) for name in self.joint_qpos]
        self.observation_slices: dict[str, slice] = {}
        at = 0
        for name, size in fields:
            self.observation_slices[name] = slice(at, at + size)
            at += size
        self.observation_size = at
        begins = {name: part.start for name, part in self.observation_slices.items()}
        tools = [at for name, at in begins.items() if name.startswith("tcp_pose")]
        poses = [at for name, at in begins.items() if name.startswith(("base_pose", "items/"))]
        points = [at for name, size in fields if name.startswith("points/") for at in range(begins[name], begins[name] + size, 3)]
        turns = [at + 3 for at in (*tools, *poses)]
        known = [*range(self.joint_count), *(at + k for at in tools for k in range(7))]  # joint positions come first
        self._told = Told(*(np.array(part, dtype=int) for part in (tools, [*poses, *points], turns, known)))
        self._item_bodies = np.array([index.body for index in self.items.values()], dtype=int)
        self._joint_addresses = np.array(list(self.joint_qpos.values()), dtype=int)

    # ------------------------------------------------------------------ reset

    def reset(self, rng: np.random.Generator) -> None:
        """Draw this attempt's variation from `rng`, put everything in place and let it settle; the clock then reads 0.

        Raises:
            SettleError: the scene does not come to rest, even without variation.
        """
        draws = repr(rng.bit_generator.state)
        self._variation.draw(rng, self.data)
        offsets = self._draw_offsets(rng)
        noise = rng.uniform(-1, 1, len(self.home)) * self.scenario.randomization.robot_joints
        noise[: len(self.robot.base.joints)] = 0.0
        if draws in self._resets:
            state, findings = self._resets[draws]
            if not findings:
                self.restore(state)
        else:
            findings = self._come_to_rest(offsets, self.home + noise)
            if len(self._resets) < self._remember:
                self._resets[draws] = self.save(), findings
        if findings:
            raise SettleError(findings)

    def _come_to_rest(self, offsets: dict[str, tuple[float, float, float]], joints: np.ndarray) -> tuple[Finding, ...]:
        """Place everything and let it settle; what is wrong when it does not."""
        findings: tuple[Finding, ...] = ()
        for scale in (1.0, 0.5, 0.25, 0.0):  # variation that pushes things into each other is shrunk, never forced
            self._place(offsets, scale, joints)
            findings = self._overlaps() or self._settle()
            if not findings:
                self.data.time = 0.0
                self.data.qvel[:] = 0.0
                if self.liquids is not None:
                    self.liquids.mark(self.data)
                mujoco.mj_forward(self.model, self.data)
                break
        return findings

    def _draw_offsets(self, rng: np.random.Generator) -> dict[str, tuple[float, float, float]]:
        random = self.scenario.randomization
        reach = np.array([random.position, random.position, random.yaw])
        loose = [name for name in self.items if name in self._free or name in self.sheets]
        drawn = {name: rng.uniform(-1, 1, 3) for name in loose}
        offsets = {name: tuple(part * reach) for name, part in drawn.items()}
        for name, area in random.areas.items():
            if name in drawn:
                low, high = np.array([area.x, area.y, (-area.yaw, area.yaw)]).T
                offsets[name] = tuple((low + high + drawn[name] * (high - low)) / 2)
        offsets = {name: self._kept_on(name, offset) for name, offset in offsets.items()}
        if (cradle := self.robot.cradle) is not None:
            play = np.array([cradle.play[0], *cradle.play])
            offsets |= {name: tuple(np.clip(offsets[name], -play, play)) for name in self.in_hand}
        return offsets

    def _kept_on(self, name: str, offset: tuple[float, float, float]) -> tuple[float, float, float]:
        """An item's variation, which takes it at most half way from the middle of something loose it stands on to its edge.

        Nearer to the edge of a book that stands, or of a plate, one of the two would tip over sooner or later.
        """
        item = self.scenario.scene.item(name)
        if item.relation != "on" or item.parent not in self._free or item.pose is None:
            return offset
        support = self.assets[item.parent].affordances.support(item.support)
        c, s = (self.compiled.nominal[item.parent] @ tf.matrix(support.pose))[:2, 0]
        turn = np.array([[c, s], [-s, c]])  # from the world to the support
        here, room = np.array(item.pose.position[:2]), MIDDLE * np.array(support.size)
        there = np.clip(here + turn @ offset[:2], np.minimum(-room, here), np.maximum(room, here))
        x, y = turn.T @ (there - here)
        return float(x), float(y), offset[2]

    def _place(self, offsets: dict[str, tuple[float, float, float]], scale: float, robot_joints: np.ndarray) -> None:
        data = self.data
        mujoco.mj_resetData(self.model, data)
        grant(self)
        show(self)
        moved: dict[str, tf.Float] = {}
        for item in self._parents_first():
            T = self.compiled.nominal[item]
            parent = self.scenario.scene.item(item).parent
            if parent in moved:  # carried along by the parent's own variation
                T = moved[parent] @ tf.inverse(self.compiled.nominal[parent]) @ T
            if item in offsets:
                x, y, yaw = (scale * v for v in offsets[item])
                T = T.copy()
                T[:2, 3] += x, y
                T[:3, :3] = tf.turn_z(yaw)[:3, :3] @ T[:3, :3]
                moved[item] = T
                if item in self.sheets:
                    self.sheets[item].lay(data, T)
                    continue
                at = self.items[item].qpos
                data.qpos[at : at + 3] = T[:3, 3]
                data.qpos[at + 3 : at + 7] = tf.quaternion(T[:3, :3])
            elif item in self.heaps:
                self.heaps[item].lay(data, T)
        for thing in self.scenario.scene.items:
            for joint, fraction in thing.joints.items():
                data.qpos[self.joint_qpos[f"{thing.id}.{joint}"]] = joint_position(self.assets[thing.id], joint, fraction)
        self.stand_ready(data, robot_joints)
        self.command = np.concatenate([robot_joints, *self._fingers])
        data.ctrl[:] = self._drive(self.command, 0.0)
        if self.footing is not None:
            data.ctrl[:] += self.footing.controls(robot_joints, robot_joints, 1, self.control_dt)[0]
        self.least_margin = np.inf
        mujoco.mj_forward(self.model, data)
        if self.liquids is not None:
            self.liquids.fill(data)

    def _parents_first(self) -> list[str]:
        order: list[str] = []
        scene = self.scenario.scene
        for item in scene.items:
            chain: list[str] = []
            at: str | None = item.id
            while at is not None and at not in order:
                chain.append(at)
                at = scene.item(at).parent
            order += reversed(chain)
        return order

    def set_robot(self, data: mujoco.MjData, joints: np.ndarray, gripper: float) -> None:
        """Write robot joints [m, rad] and gripper opening (0 open to 1 closed) into the positions of `data`."""
        data.qpos[self.robot_qpos] = joints
        if self.footing is not None:
            self.footing.place(data, joints)
        for addresses, hand in zip(self.finger_qpos, self.grippers, strict=True):
            opened, closed = np.asarray(hand.open_qpos), np.asarray(hand.closed_qpos)
            data.qpos[addresses] = opened + gripper * (closed - opened)

    def stand_ready(self, data: mujoco.MjData, joints: np.ndarray) -> None:
        """Write robot joints [m, rad] as at the start into the positions of `data`: hands open, or round what lies in them,
        which goes along with the hand."""
        self.set_robot(data, joints, 0.0)
        if not self.in_hand:
            return
        cradle, palm = self.robot.cradle, palm_pose(self.scenario)
        assert cradle is not None and palm is not None  # else the world is not compiled
        data.qpos[self.finger_qpos[0]] = cradle.fingers
        mujoco.mj_kinematics(self.model, data)
        tool = np.eye(4)
        tool[:3, :3], tool[:3, 3] = data.site_xmat[self.tcp_sites[0]].reshape(3, 3), data.site_xpos[self.tcp_sites[0]]
        by = tool @ tf.translate(cradle.place) @ tf.inverse(palm)
        for item in self.in_hand:
            body, at = self.items[item].body, self.items[item].qpos
            pose = by @ tf.compose(data.xpos[body], data.xquat[body])
            data.qpos[at : at + 3], data.qpos[at + 3 : at + 7] = pose[:3, 3], tf.quaternion(pose[:3, :3])

    def _overlaps(self) -> tuple[Finding, ...]:
        return tuple(
            Finding(
                code="physics.overlap",
                subjects=pair,
                value=depth,
                limit=OVERLAP,
                unit="m",
                message=f"{pair[0]} and {pair[1]} overlap by {100 * depth:.2f} cm (at most {100 * OVERLAP:.1f} cm)",
            )
            for pair, depth in self.overlaps(OVERLAP).items()
        )

    def _settle(self) -> tuple[Finding, ...]:
        data = self.data
        before = data.xpos[[self.items[n].body for n in self._free]].copy() if self._free else np.zeros((0, 3))
        spread = {name: sheet.middle(data) for name, sheet in self.sheets.items()}
        joints = np.array(list(self.joint_dof.values()), dtype=int)
        for _ in range(round(SETTLE_SECONDS / self.control_dt)):
            self._physics(self.substeps)
            self.simulated += self.control_dt
            speeds = self._speeds()
            swing = np.abs(data.qvel[joints]).max(initial=0.0)
            flutter = max((points.speed(data) for points in self.loose.values()), default=0.0)
            splash = 0.0 if self.liquids is None else self.liquids.speed()
            if (
                flutter < SETTLE_SPEED
                and splash < CALM
                and speeds[:, 0].max(initial=0.0) < SETTLE_SPEED
                and speeds[:, 1].max(initial=0.0) < SETTLE_TURN
                and swing < SETTLE_TURN
            ):
                break
        if (fault := self._fault()) is not None:
            return (Finding(code="physics.fault", value=fault.value, limit=fault.limit, message=f"while settling, {fault.what}"),)
        mujoco.mj_kinematics(self.model, data)
        seen = [
            (name, float(speeds[k, 0]), float(speeds[k, 1]), data.xpos[self.items[name].body] - before[k])
            for k, name in enumerate(self._free)
        ]
        seen += [(name, sheet.speed(data), 0.0, sheet.middle(data) - spread[name]) for name, sheet in self.sheets.items()]
        findings: list[Finding] = []
        for name, speed, turn, shift in seen:
            for what, value, limit, unit in (
                ("moves", speed, SETTLE_SPEED, "m/s"),
                ("turns", turn, SETTLE_TURN, "rad/s"),
                ("shifted", float(np.linalg.norm(shift)), SETTLE_SHIFT, "m"),
            ):
                if value > limit:
                    findings.append(
                        Finding(
                            code=f"physics.{what}",
                            subjects=(name,),
                            value=value,
                            limit=limit,
                            unit=unit,
                            message=f"{name} {what} by {value:.3g} {unit} while settling (at most {limit:g} {unit})",
                        )
                    )
        return tuple(findings)

    # ------------------------------------------------------------------ step

    def step(self, action: np.ndarray) -> None:
        """Advance one control step towards `action`, shape (action_size,); see the module's first lines.

        Raises:
            WorldFault: the action is not finite or has the wrong shape, the engine warned, the state is not finite, or the
                clock jumped.
        """
        target = np.asarray(action, dtype=np.float64)
        if target.shape != (self.action_size,):
            raise WorldFault("world.bad_action", f"action has shape {target.shape}, expected ({self.action_size},)")
        if not np.isfinite(target).all():
            raise WorldFault("world.bad_action", f"action is not finite: {target}")
        data = self.data
        noise = self.torque_noise(self.control_step)
        before = data.time
        for k, controls in enumerate(self.controls(self.command, target)):
            data.ctrl[:] = controls
            if noise is not None:
                data.qfrc_applied[self.robot_dof] = noise[k] * self.effort()
            self._physics(1)
        self.simulated += self.control_dt
        self.command = target.copy()
        if self.liquids is not None:
            self.liquids.mark(data)
        mujoco.mj_kinematics(self.model, data)  # body poses are one step old after mj_step
        if self.footing is not None:
            self.least_margin = min(self.least_margin, self.footing.margin(data))
        self.check(before)
        if self.sheets:
            pinch(self)
        if self.marks:
            rub(self)

    def _physics(self, steps: int) -> None:
        """Physics steps; with liquids the fluid's own step comes in the middle of each."""
        if self.liquids is None:
            mujoco.mj_step(self.model, self.data, steps)
            return
        for _ in range(steps):
            mujoco.mj_step1(self.model, self.data)
            self.liquids.step(self.data)
            mujoco.mj_step2(self.model, self.data)

    @property
    def plain(self) -> bool:
        """Whether a control step is controls and physics steps and nothing else, so that a `Batch` may take it in C."""
        return self.liquids is None and not self.sheets and not self.marks and self.footing is None

    def controls(self, start: np.ndarray, target: np.ndarray) -> tf.Float:
        """Controls of all actuators at each substep on the way from one command to the next, shape (..., substeps, nu).

        Args:
            start: Commands at the beginning of the control step, shape (..., action_size).
            target: Commands to be reached at its end, shape (..., action_size).
        """
        n = self.substeps
        delta = (target - start) / n
        velocity = delta[..., None, : self.joint_count] * (n / self.control_dt)
        command = start[..., None, :] + np.arange(1, n + 1)[:, None] * delta[..., None, :]
        out = self._drive(command, velocity)
        if self.footing is not None:
            arms = slice(0, self.joint_count)
            out += self.footing.controls(start[arms], target[arms], n, self.control_dt)
        return out

    def _drive(self, command: np.ndarray, velocity: np.ndarray | float) -> tf.Float:
        """Controls (..., nu) at commands (..., action_size) whose joints move at `velocity` (..., joint_count)."""
        out = np.zeros((*command.shape[:-1], self.model.nu))
        out[..., self._servo] = command[..., : self.joint_count] + self._feed * velocity
        for servos, part, hand in zip(self._finger_servos, self.hand_slices, self.grippers, strict=True):
            opened, closed = np.asarray(hand.open_ctrl), np.asarray(hand.closed_ctrl)
            said = command[..., part]
            out[..., servos] = said if hand.dexterous else opened + np.clip(said, 0.0, 1.0) * (closed - opened)
        return out

    def torque_noise(self, control_step: int) -> tf.Float | None:
        """Noise of each servo's force at each substep, as a fraction of its effort, shape (substeps, joint_count); None: none."""
        draws = self._variation.noise("torque", control_step)
        if draws is None:
            return None
        return self.scenario.randomization.torque_noise * draws.standard_normal((self.substeps, self.joint_count))

    def check(self, before: float) -> None:
        """Raise the `WorldFault` of a world that has gone wrong in a control step that began at time `before` [s]."""
        if (fault := self._fault()) is not None:
            raise fault
        drift = abs(self.data.time - before - self.control_dt)
        if drift > CLOCK_DRIFT:
            raise WorldFault("world.clock", f"the clock is off by {drift:.3g} s", value=drift, limit=CLOCK_DRIFT)

    def _fault(self) -> WorldFault | None:
        """What the engine has warned of since the last reset or restore, or that the state is not finite."""
        data = self.data
        warnings = data.warning.number
        if warnings.any():
            kind = int(np.flatnonzero(warnings)[0])
            text = mujoco.mjtWarning(kind).name.removeprefix("mjWARN_").lower()
            return WorldFault("world.engine_warning", f"the engine warned: {text}", value=float(warnings[kind]), limit=0.0)
        wet = self.liquids is None or self.liquids.finite
        if not (np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all() and wet):
            return WorldFault("world.not_finite", "the state is not finite")
        return self.footing.fault(data) if self.footing is not None else None

    # ------------------------------------------------------------------ state

    def save(self) -> tf.Float:
        """The state that replays: integration state, the last action, then that of liquids; shape (ns,)."""
        out = np.empty(self._state_size + self.action_size)
        mujoco.mj_getState(self.model, self.data, out[: self._state_size], STATE)
        out[self._state_size :] = self.command
        return out if self.liquids is None else np.concatenate([out, self.liquids.save()])

    def restore(self, state: np.ndarray) -> None:
        """Return to a state that `save` gave."""
        wet = 0 if self.liquids is None else self.liquids.size
        rigid = self._state_size + self.action_size
        if state.shape != (rigid + wet,):
            raise UsageError(f"state has shape {state.shape}, expected ({rigid + wet},)")
        mujoco.mj_setState(self.model, self.data, state[: self._state_size], STATE)
        grant(self)
        show(self)
        self.command = state[self._state_size : rigid].copy()
        if self.liquids is not None:
            self.liquids.restore(state[rigid:])
        self.data.warning.number[:] = 0  # what was warned of lies behind
        self.least_margin = np.inf
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, state[: self._state_size], STATE)  # forward overwrites the warm start

    @property
    def time(self) -> float:
        """Seconds since reset."""
        return float(self.data.time)

    @property
    def control_step(self) -> int:
        """Control steps since reset."""
        return round(self.time / self.control_dt)

    # ------------------------------------------------------------------ look

    def observe(self) -> tf.Float:
        """Low-dimensional observation, shape (observation_size,); `observation_slices` names its parts.

        joint_position, joint_velocity, effort: base and arm joints [m, rad], [m/s, rad/s], actuator forces [N, N m]; gripper:
        measured closing 0 to 1, one an arm; finger_position: joints of dexterous hands [rad]; tcp_pose (further arms: tcp_pose_1,
        ...), base_pose (of one on its feet), items/<id>: world position [m] and quaternion wxyz; joints/<item.joint>: position
        [m, rad]. With `Randomization.observation_noise` every value is off in proportion to itself, places in proportion to their
        distance from the nearest tool, and the robot knows where its joints, tools and base are (`Variation.blur`); observing
        again at the same time gives the same reading.
        """
        out = np.empty(self.observation_size)
        self.read(self.data, out)
        self.blur(out, self.control_step)
        return out

    def blur(self, observed: np.ndarray, control_step: int) -> None:
        """Add the observation noise of a control step of this attempt to what was `read`, shape (observation_size,), in place."""
        self._variation.blur(observed, self._told, control_step)

    def read(self, data: Readable, out: np.ndarray) -> None:
        """Write what `observe` tells of `data`, without noise, into `out`.

        Args:
            data: An MjData of this world's model, or the same fields of many states with one more dimension in front.
            out: Where to write it, shape (observation_size,) or (states, observation_size).
        """
        n = self.joint_count
        out[..., :n] = data.qpos[..., self.robot_qpos]
        out[..., n : 2 * n] = data.qvel[..., self.robot_dof]
        out[..., 2 * n : 3 * n] = self.efforts(data)
        at = 3 * n
        for hand, addresses, k in zip(self.grippers, self.finger_qpos, self._telling, strict=True):
            opened, closed = hand.open_qpos[k], hand.closed_qpos[k]
            out[..., at] = (data.qpos[..., addresses[k]] - opened) / (closed - opened)
            at += 1
        for site in self.tcp_sites:
            out[..., at : at + 3] = data.site_xpos[..., site, :]
            turned = out[..., at + 3 : at + 7].reshape(-1, 4)  # a view, of one row or of many
            for k, R in enumerate(data.site_xmat[..., site, :].reshape(-1, 3, 3)):
                turned[k] = tf.quaternion(R)
            at += 7
        for addresses in self._dexterous_qpos:
            out[..., at : at + len(addresses)] = data.qpos[..., addresses]
            at += len(addresses)
        if self.footing is not None:
            out[..., at : at + 3] = data.xpos[..., self.base_body, :]
            out[..., at + 3 : at + 7] = data.xquat[..., self.base_body, :]
            at += 7
        end = at + 7 * len(self._item_bodies)
        poses = out[..., at:end].reshape(*out.shape[:-1], -1, 7)
        poses[..., :3] = data.xpos[..., self._item_bodies, :]
        poses[..., 3:] = data.xquat[..., self._item_bodies, :]
        for row, item in enumerate(self.items):
            if item in self.loose:
                poses[..., row, :3] = self.loose[item].middle(data)
        for sheet in self.sheets.values():
            points = data.xpos[..., sheet.bodies, :]
            out[..., end : end + sheet.qpos.size] = points.reshape(*points.shape[:-2], -1)
            end += sheet.qpos.size
        out[..., end:] = data.qpos[..., self._joint_addresses]

    def effort(self) -> tf.Float:
        """Forces [N, N m] of the base and arm servos in the present state, shape (joint_count,).

        The engine's own are those of the physics step before, which a restored world does not know.
        """
        return self.efforts(self.data)

    def efforts(self, data: Readable) -> tf.Float:
        """What `effort` tells, of `data`: see `read`."""
        ctrl = np.clip(data.ctrl[..., self._servo], *self._ctrl_range)
        b0, b1, b2 = self._bias
        force = self._gain * ctrl + b0 + b1 * data.qpos[..., self.robot_qpos] + b2 * data.qvel[..., self.robot_dof]
        clipped: tf.Float = np.clip(force, *self._force_range)
        return clipped

    def gripper(self, arm: int = 0, hand: Gripper | None = None) -> float:
        """Measured closing of an arm's gripper, 0 open to 1 closed: of its first joint that moves.

        `hand`: how the fingers go from open to closed; None: as the robot's description says.
        """
        hand = self.grippers[arm] if hand is None else hand
        k = _first_moving(hand)
        position = self.data.qpos[self.finger_qpos[arm][k]]
        return float((position - hand.open_qpos[k]) / (hand.closed_qpos[k] - hand.open_qpos[k]))

    def tcp(self, arm: int = 0) -> tf.Float:
        """World pose (4, 4) of an arm's tool centre point."""
        T = np.eye(4)
        T[:3, :3] = self.data.site_xmat[self.tcp_sites[arm]].reshape(3, 3)
        T[:3, 3] = self.data.site_xpos[self.tcp_sites[arm]]
        return T

    def fingers(self, arm: int = 0) -> tuple[str, str]:
        """The owners that are the two opposed sides of an arm's gripper."""
        return f"finger_{2 * arm}", f"finger_{2 * arm + 1}"

    def positions(self) -> tf.Float:
        """The engine's generalized positions now, shape (nq,), a copy."""
        return np.array(self.data.qpos)

    def item_pose(self, item: str, body: str = "root") -> tf.Float:
        """World pose (4, 4) of an item's body."""
        if item in self.loose:
            return self.loose[item].pose(self.data)
        index = self.items[item].body if body == "root" else self.model.body(f"{item}/{body}").id
        T = np.eye(4)
        T[:3, :3] = self.data.xmat[index].reshape(3, 3)
        T[:3, 3] = self.data.xpos[index]
        return T

    def support(self, reference: str) -> tuple[Support, tf.Float]:
        """The support named by `item` or `item.part`, and its world frame (4, 4)."""
        item, part = split_reference(reference)
        place = self.assets[item].affordances.support(part)
        return place, self.item_pose(item, place.body) @ tf.matrix(place.pose)

    def cavity(self, reference: str) -> tuple[Cavity, tf.Float]:
        """The cavity named by `item` or `item.part`, and its world frame (4, 4)."""
        item, part = split_reference(reference)
        place = self.assets[item].affordances.cavity(part)
        return place, self.item_pose(item, place.body) @ tf.matrix(place.pose)

    def handle(self, reference: str) -> tuple[Handle, tf.Float]:
        """The handle named by `item` or `item.part`, and the world pose (4, 4) of the body it is on."""
        item, part = split_reference(reference)
        place = self.assets[item].affordances.handle(part)
        return place, self.item_pose(item, place.body)

    def joint(self, reference: str) -> tuple[float, float]:
        """Position [m or rad] and opening fraction of the joint named `item.joint`."""
        item, name = split_reference(reference)
        info = self.assets[item].joints[name or next(iter(self.assets[item].joints))]
        position = float(self.data.qpos[self.joint_qpos[f"{item}.{info.name}"]])
        return position, (position - info.closed) / (info.open - info.closed)

    def matter(self, item: str) -> tf.Float:
        """World positions [m] of the points that an item of cloth, rope, grains or liquid consists of, shape (n, 3).

        Raises:
            KeyError: it is rigid.
        """
        kind = self.assets[item].matter
        if kind is None:
            raise KeyError(f"{item} is rigid")
        if self.liquids is not None and item in self.liquids.pools:
            return self.liquids.points(item)
        if item in self.loose:
            return self.loose[item].points(self.data)
        if item in self.marks:
            return self.marks[item].cells
        if kind.flex:
            mujoco.mj_flex(self.model, self.data)  # a step leaves vertices where they were
            flex = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_FLEX, f"{item}/{kind.flex}")
            start = int(self.model.flex_vertadr[flex])
            found: tf.Float = self.data.flexvert_xpos[start : start + int(self.model.flex_vertnum[flex])].copy()
            return found
        bodies = [self.model.body(f"{item}/{name}").id for name in kind.bodies]
        return np.asarray(self.data.xpos[bodies])

    def corners(self, item: str) -> tf.Float:
        """World corners of the item's bounding box (its own axes, joints closed; of cloth as it lies now), shape (8, 3)."""
        low, high = self.assets[item].extents
        box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        T = self.item_pose(item)
        if item in self.loose:
            radius = self.loose[item].radius
            local = (self.loose[item].points(self.data) - T[:3, 3]) @ T[:3, :3]
            box = np.where(box > box.mean(axis=0), local.max(axis=0) + radius, local.min(axis=0) - radius)
        return box @ T[:3, :3].T + T[:3, 3]

    def solids(self, data: mujoco.MjData | None = None) -> np.ndarray:
        """Both solids of every contact, of this state or another's `data`, shape (n, 2): geoms by number, flexes after them."""
        contact = (self.data if data is None else data).contact
        geom: np.ndarray = contact.geom.reshape(-1, 2)
        return geom if not self.model.nflex else np.where(geom < 0, self.model.ngeom + contact.flex.reshape(-1, 2), geom)

    def contacts(self) -> set[Contact]:
        """Every pair of different owners now in contact, each pair in the order of `owners`."""
        contact = self.data.contact
        pairs = np.sort(self.solid_owner[self.solids()[contact.dist < 0]], axis=1)
        return {Contact(self.owners[a], self.owners[b]) for a, b in pairs if a != b}

    def overlaps(self, deeper: float, data: mujoco.MjData | None = None) -> dict[tuple[str, str], float]:
        """Pairs of owners that are more than `deeper` [m] in each other, in alphabetical order, with the depth [m].

        Contacts are those of this world's state, or of `data`, another state of its model.
        """
        contact = (self.data if data is None else data).contact
        owners = self.solid_owner[self.solids(data)]
        deepest: dict[tuple[str, str], float] = {}
        for k in np.flatnonzero((contact.dist < -deeper) & (owners[:, 0] != owners[:, 1])):
            a, b = sorted(self.owners[o] for o in owners[k])
            deepest[a, b] = max(deepest.get((a, b), 0.0), -float(contact.dist[k]))
        return dict(sorted(deepest.items()))

    def touching(self, first: str, second: str) -> bool:
        """Whether two owners (item ids, `finger_0`, `finger_1`, `robot`, `world`) are in contact."""
        a, b = self.owners.index(first), self.owners.index(second)
        contact = self.data.contact
        owners = self.solid_owner[self.solids()]
        hit = ((owners == (a, b)).all(axis=1) | (owners == (b, a)).all(axis=1)) & (contact.dist < 0)
        return bool(hit.any())

    def grasped(self, arm: int | None = None) -> tuple[str, ...]:
        """Ids of items touched by both sides of an arm's gripper; None: of any."""
        arms = range(len(self.grippers)) if arm is None else (arm,)
        return tuple(i for i in self.items if any(all(self.touching(f, i) for f in self.fingers(k)) for k in arms))

    def _speeds(self) -> tf.Float:
        velocity = self.data.qvel[self._free_dofs]  # (n, 6): linear world, angular local
        return np.stack([np.linalg.norm(velocity[:, :3], axis=1), np.linalg.norm(velocity[:, 3:], axis=1)], axis=1)

    def speed(self) -> float:
        """Speed [m/s] of the fastest free item or articulated joint (a hinge counts its rad/s at 0.3 m)."""
        joints = np.abs(self.data.qvel[list(self.joint_dof.values())]).max(initial=0.0) if self.joint_dof else 0.0
        flutter = max((points.speed(self.data) for points in self.loose.values()), default=0.0)
        return float(max(self._speeds()[:, 0].max(initial=0.0), 0.3 * joints, flutter))


def _slices(start: int, sizes: list[int]) -> list[slice]:
    ends = np.cumsum([start, *sizes])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def _first_moving(hand: Gripper) -> int:
    """Index of the first finger joint that opening and closing move."""
    return next(k for k, (a, b) in enumerate(zip(hand.open_qpos, hand.closed_qpos, strict=True)) if a != b)
