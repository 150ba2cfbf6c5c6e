"""How fingers and things touch: the engine options and pad properties under which every robot holds what it picked up.

The world must set these options: an attached fragment's own options are ignored by MuJoCo, the parent's win.
The numbers are measured by the hold test (`embodiments.holdtest`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco


@dataclass(frozen=True, kw_only=True)
class ContactOptions:
    """Engine options that decide whether a grip holds."""

    timestep: float
    """Physics step [s]."""
    cone: mujoco.mjtCone
    """Friction cone: elliptic, for pyramidal cones creep."""
    impratio: float
    """Stiffness of friction relative to normal force: raised, it stops a held thing from creeping."""
    noslip_iterations: int
    """Iterations of the pass that removes what creep is left. Each costs step rate."""
    integrator: mujoco.mjtIntegrator
    """The discrete one, which solves contacts and servo damping together. Under implicitfast contacts are solved as if the servos
    were not damped, and whatever an arm holds is dragged along its own motion: 6 mm in the shake of the hold test."""

    def apply(self, spec: mujoco.MjSpec) -> None:
        """Set these options on a spec that is about to be compiled."""
        spec.option.timestep = self.timestep
        spec.option.cone = self.cone
        spec.option.impratio = self.impratio
        spec.option.noslip_iterations = self.noslip_iterations
        spec.option.integrator = self.integrator


OPTIONS = ContactOptions(
    timestep=1.0 / 240.0,
    cone=mujoco.mjtCone.mjCONE_ELLIPTIC,
    impratio=20.0,
    noslip_iterations=0,
    integrator=mujoco.mjtIntegrator.mjINT_DISCRETE,
)

PAD_FRICTION = (1.0, 0.03, 0.0001)
"""Sliding [1], torsional [m] and rolling [m] friction of fingertip pads. Rubber on dry plastic, wood or glazed ceramic has a
sliding coefficient of 0.6 to 1.2 (Engineering ToolBox, "Friction coefficients"); a pad some 1 cm wide that is pressed flat
resists twisting like a disc of that size, of the order of 2/3 of its radius, here raised so that long things do not sag about
the line through the fingertips."""

PAD_SOLREF = (-20000.0, -340.0)
"""Stiffness [1/s^2] and damping [1/s] of pad contacts. What is held by an arm in motion slips by the arm's centripetal
acceleration over this damping (0.3 m/s^2 at 0.4 m/s: about 1 mm/s), since constraints act on velocities only step by step;
twice the step rate, 480, is where they cease to be stable."""

PAD_SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)
"""Impedance of pad contacts: hard, as creep under load is in proportion to how far it falls short of one."""


def make_pad(geom: Any) -> None:
    """Give a fingertip geom the contact properties of a pad; its priority makes them win over the object's own."""
    geom.friction = PAD_FRICTION
    geom.solref = PAD_SOLREF
    geom.solimp = PAD_SOLIMP
    geom.condim = 4
    geom.priority = 1
