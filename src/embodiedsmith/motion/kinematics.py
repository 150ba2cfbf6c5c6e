"""Where the tool is for given joints, and which joints put it there (differential IK with mink).

Only the robot is in this model, standing at the origin; the world's pose of the robot's base is applied by the caller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import mink
import mujoco
import numpy as np

from embodiedsmith import embodiments
from embodiedsmith.world import transforms as tf

POSITION_TOLERANCE = 0.001  # [m]
ROTATION_TOLERANCE = 0.01  # [rad]
LIMIT_MARGIN = 0.01  # [rad] kept from joint limits, so that servo overshoot stays inside
ITERATIONS = 40
PROGRESS, PATIENCE = 0.97, 5  # given up when the error has not shrunk by 3 % for so many iterations
TURN = 0.3  # [m/rad] what a turn weighs against a shift
DAMPING = 1e-2  # of the squared error: Levenberg-Marquardt, small near the solution
_WEIGHTS = np.array([1.0, 1.0, 1.0, TURN, TURN, TURN])
OFFSET = 0.01  # [m] from the first joint's axis, across the second one's, that an arm's reach takes no notice of
STEP = 0.35  # [rad] largest joint change an iteration, so that linearisation holds


@dataclass(frozen=True)
class Solution:
    """Arm joints and how far their tool pose is from what was asked."""

    joints: tf.Float
    position_error: float
    """[m]"""
    rotation_error: float
    """[rad]"""

    @property
    def ok(self) -> bool:
        """Within tolerance."""
        return self.position_error < POSITION_TOLERANCE and self.rotation_error < ROTATION_TOLERANCE


class Kinematics:
    """Forward and inverse kinematics of one arm of a robot, in the frame of the robot's base; other joints at their home."""

    def __init__(self, name: str, index: int = 0) -> None:
        robot = embodiments.get(name)
        spec = robot.build()
        self.model = spec.compile()
        self.robot = robot
        arm = self.arm = robot.arms[index]
        self.qpos = np.array([self.model.joint(j).qposadr[0] for j in arm.joints], dtype=int)
        self._dof = np.array([self.model.joint(j).dofadr[0] for j in arm.joints], dtype=int)
        ranges = np.array([self.model.joint(j).range for j in arm.joints])
        limited = np.array([bool(self.model.jnt_limited[self.model.joint(j).id]) for j in arm.joints])
        self.lower = np.where(limited, ranges[:, 0] + LIMIT_MARGIN, -2 * np.pi)
        self.upper = np.where(limited, ranges[:, 1] - LIMIT_MARGIN, 2 * np.pi)
        self.home = np.asarray(arm.home, dtype=np.float64)
        self._configuration = mink.Configuration(self.model)
        self._task = mink.FrameTask(arm.tcp_site, "site", position_cost=1.0, orientation_cost=TURN)
        self._site = self.model.site(arm.tcp_site).id
        self._rest = self._configuration.q.copy()
        for other in robot.arms:
            for joint, position in zip(other.joints, other.home, strict=True):
                self._rest[self.model.joint(joint).qposadr[0]] = position
        self.mount, self._shoulder, self._stretch = self._measure()

    def _measure(self) -> tuple[tf.Float, tf.Float, float]:
        """Where the first joint is and a point near the second in the base frame (3,), and how far [m] the tool gets from it."""
        data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, data)
        points = [data.xanchor[self.model.joint(j).id].copy() for j in self.arm.joints[1:]]
        points.append(data.site_xpos[self._site].copy())
        first = self.model.joint(self.arm.joints[0]).id
        mount, axis = data.xanchor[first].copy(), data.xaxis[first]
        middle = mount + axis * float(axis @ (points[0] - mount))
        along = data.xaxis[self.model.joint(self.arm.joints[1]).id]
        across = points[0] - middle - along * float(along @ (points[0] - middle))
        if np.linalg.norm(across) > OFFSET:  # the second joint goes round the first one's axis, and the arm with it
            points = [middle, *points]
        return mount, points[0], float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) + self._travel()

    def _travel(self) -> float:
        """How far [m] the arm's sliding joints, all together, move the tool from where the model puts it."""
        slides = [self.model.joint(j).type[0] == mujoco.mjtJoint.mjJNT_SLIDE for j in self.arm.joints]
        rest = self.model.qpos0[self.qpos]
        return float(np.maximum(np.abs(self.lower - rest), np.abs(self.upper - rest))[slides].sum())

    def forward(self, joints: tf.Float) -> tf.Float:
        """Tool pose (4, 4) in the base frame at arm joints (n,)."""
        data = self._configuration.data
        data.qpos[self.qpos] = joints
        mujoco.mj_kinematics(self.model, data)
        T = np.eye(4)
        T[:3, :3] = data.site_xmat[self._site].reshape(3, 3)
        T[:3, 3] = data.site_xpos[self._site]
        return T

    def jacobian(self, joints: tf.Float) -> tf.Float:
        """How the tool moves [m/rad] and turns [rad/rad] in the base frame with the arm joints (n,), shape (6, n)."""
        data = self._configuration.data
        data.qpos[self.qpos] = joints
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        J = np.zeros((6, self.model.nv))
        mujoco.mj_jacSite(self.model, data, J[:3], J[3:], self._site)
        return J[:, self._dof]

    def inverse(self, T_base_tcp: tf.Float, start: tf.Float, *, iterations: int = ITERATIONS) -> Solution:
        """Arm joints that bring the tool to `T_base_tcp` (4, 4), searched from `start` (n,); or the best found."""
        far = float(np.linalg.norm(T_base_tcp[:3, 3] - self._shoulder)) - self._stretch
        if far > 0:
            return Solution(np.clip(start, self.lower, self.upper), far, 0.0)
        configuration, task = self._configuration, self._task
        task.set_target(mink.SE3.from_matrix(T_base_tcp))
        q = self._rest.copy()
        q[self.qpos] = np.clip(start, self.lower, self.upper)
        best = Solution(q[self.qpos].copy(), np.inf, np.inf)
        since = 0
        for _ in range(iterations):
            configuration.update(q)
            error = task.compute_error(configuration)
            position, turn = math.hypot(*error[:3]), math.hypot(*error[3:])
            since += 1
            left, before = position + TURN * turn, best.position_error + TURN * best.rotation_error
            if left < PROGRESS * before:
                since = 0
            if left < before:
                best = Solution(q[self.qpos].copy(), position, turn)
            if best.ok or since > PATIENCE:
                break
            q[self.qpos] = self._descend(q[self.qpos], error)
        return best

    def _descend(self, joints: tf.Float, error: tf.Float) -> tf.Float:
        """One damped Gauss-Newton step on mink's task, joints at a limit left out of it."""
        J = _WEIGHTS[:, None] * self._task.compute_jacobian(self._configuration)[:, self._dof]
        pull = -J.T @ (_WEIGHTS * error)
        H = J.T @ J
        H.flat[:: len(H) + 1] += DAMPING * (1e-3 + float(error @ error))
        step = np.linalg.solve(H, pull)
        blocked = ((joints <= self.lower) & (step < 0)) | ((joints >= self.upper) & (step > 0))
        if blocked.any():
            H[blocked] = H[:, blocked] = 0.0
            H[blocked, blocked] = 1.0
            step = np.linalg.solve(H, np.where(blocked, 0.0, pull))
        step *= min(1.0, STEP / max(float(np.abs(step).max()), 1e-9))
        return np.clip(joints + step, self.lower, self.upper)

    def line(self, T_from: tf.Float, T_to: tf.Float, start: tf.Float, *, spacing: float = 0.015) -> tf.Float | None:
        """Arm joints (k, n) along the straight tool motion between two base-frame poses, from `start`; None when it leaves reach.

        Also None when joints would jump, which happens beside a singularity.
        """
        shift = float(np.linalg.norm(T_to[:3, 3] - T_from[:3, 3]))
        turn = tf.rotation_vector(T_from[:3, :3].T @ T_to[:3, :3])
        count = max(2, int(np.ceil(max(shift / spacing, float(np.linalg.norm(turn)) / 0.1))) + 1)
        path = [np.asarray(start, dtype=np.float64)]
        angle = float(np.linalg.norm(turn))
        axis = turn / angle if angle > 1e-9 else np.array([0.0, 0.0, 1.0])
        for s in np.linspace(0, 1, count)[1:]:
            T = T_from @ tf.turn(axis, s * angle)
            T[:3, 3] = T_from[:3, 3] + s * (T_to[:3, 3] - T_from[:3, 3])
            found = self.inverse(T, path[-1], iterations=15)
            if not found.ok or np.abs(found.joints - path[-1]).max() > 0.4:
                return None
            path.append(found.joints)
        return np.array(path)


@lru_cache(maxsize=8)
def kinematics(name: str, arm: int = 0) -> Kinematics:
    """The kinematics of a robot's arm, made once a process."""
    return Kinematics(name, arm)
