"""How good an episode is: pure functions of its recording, in SI units."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from embodiedsmith.tasks.recording import Float, Recording


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Quality of one episode. None: the recording does not hold what it takes."""

    completion: float
    """Fraction of the goal's predicates that hold at the end; 1 for a success, 0 when there are none to hold."""
    duration: float
    """Simulated time [s]."""
    path_length: float | None
    """Length of the way of the tool centre point [m]."""
    smoothness: float | None
    """Mean squared jerk of the tool centre point [m^2/s^6]: 0 is perfectly smooth."""
    energy: float | None
    """Integral of |torque x velocity| over the arm's joints [J]."""
    clearance: float | None
    """Least clearance over the episode [m]."""
    goal_margin: float
    """Goal margin at the end, in the units of its tightest predicate."""

    def to_json(self) -> dict[str, float | None]:
        """Scores by name; a number that is not finite (of an attempt that failed so) becomes None."""
        return {k: v if v is not None and np.isfinite(v) else None for k, v in asdict(self).items()}


def score(recording: Recording, control_hz: float = 20.0, clearance: float | None = None) -> Scores:
    """All scores of a recording whose control steps last 1 / `control_hz` [s].

    `clearance` is the least distance [m] kept from things, which takes the world to know (`motion.clearance`).
    """
    observed = recording.observations
    tcp = observed["tcp_pose"][:, :3] if "tcp_pose" in observed else None
    return Scores(
        completion=completion(recording),
        duration=recording.length / control_hz,
        path_length=None if tcp is None else path_length(tcp),
        smoothness=None if tcp is None else mean_squared_jerk(tcp, control_hz),
        energy=energy(observed["effort"], observed["joint_velocity"], control_hz)
        if {"effort", "joint_velocity"} <= observed.keys()
        else None,
        clearance=clearance,
        goal_margin=float(recording.margins[-1]),
    )


def completion(recording: Recording) -> float:
    """Fraction of the goal's predicates with a positive margin in the last row; 1 for a success."""
    if recording.outcome == "success":
        return 1.0
    last = recording.predicate_margins[-1]
    return float(np.mean(last > 0.0)) if len(last) else 0.0


def path_length(positions: Float) -> float:
    """Length of the polyline through `positions`, shape (T+1, 3) [m]."""
    return float(np.linalg.norm(np.diff(positions, axis=0), axis=1).sum())


def mean_squared_jerk(positions: Float, control_hz: float) -> float:
    """Mean of the squared third derivative of `positions`, shape (T+1, 3) [m], by finite differences [m^2/s^6].

    Zero for fewer than four rows, which have no third difference.
    """
    if len(positions) < 4:
        return 0.0
    jerk = np.diff(positions, n=3, axis=0) * control_hz**3
    return float(np.mean(np.sum(jerk * jerk, axis=1)))


def energy(torque: Float, velocity: Float, control_hz: float) -> float:
    """Trapezoid integral of the summed |torque x velocity| [J]; both of shape (T+1, n), [N m] and [rad/s].

    Columns of `velocity` beyond those of `torque` (fingers, say) are left out.
    """
    power = np.abs(torque * velocity[:, : torque.shape[1]]).sum(axis=1)
    return float(np.trapezoid(power, dx=1.0 / control_hz))
