"""The hold test: every robot holds, and the test can tell when one does not."""

from __future__ import annotations

import dataclasses

import mujoco
import pytest

from embodiedsmith import embodiments
from embodiedsmith.embodiments import Robot, contact
from embodiedsmith.embodiments.holdtest import SHAKE_ACCELERATION, hold_test


@pytest.mark.parametrize("name", embodiments.names())
def test_every_robot_holds_every_shape_and_mass(name: str) -> None:
    results = hold_test(embodiments.get(name))
    wanted = {(shape, mass) for shape in ("box", "cylinder", "mug") for mass in (0.05, 0.2, 0.5)}
    assert {(result.shape, result.mass) for result in results} == wanted
    for result in results:
        assert result.passed, str(result)
        assert result.robot == name
        assert result.give == 0.1 * embodiments.get(name).arm.gripper.squeeze
        assert result.static_slip < 1e-3 + result.give and result.shake_slip < 2e-3 + result.give
        assert result.acceleration == pytest.approx(SHAKE_ACCELERATION, rel=0.05)


def weakened(robot: Robot, force: float, friction: float) -> Robot:
    def build() -> mujoco.MjSpec:
        spec = robot.build()
        spec.actuator(robot.arm.gripper.actuators[0]).forcerange = (-2 * force, 2 * force)
        for geom in spec.geoms:
            if geom.name.endswith("_pad"):
                geom.friction = (friction, 0.001, 0.0001)
        return spec

    return dataclasses.replace(robot, build=build)


@pytest.mark.parametrize(("force", "friction"), [(1.5, 1.0), (30.0, 0.05)])
def test_a_weak_or_slippery_grip_fails(force: float, friction: float) -> None:
    (result,) = hold_test(weakened(embodiments.get("panda"), force, friction), ("box",), (0.5,))
    assert not result.passed and "DROPS" in str(result)


def test_results_repeat_bit_for_bit() -> None:
    panda = embodiments.get("panda")
    assert hold_test(panda, ("mug",), (0.2,)) == hold_test(panda, ("mug",), (0.2,))


def test_an_unknown_shape_is_refused_with_those_there_are() -> None:
    with pytest.raises(embodiments.EmbodimentError, match=r"no shape \['sphere'\](.|\n)*box, cylinder, mug"):
        hold_test(embodiments.get("panda"), ("sphere",))


def test_the_world_gets_the_options_under_which_this_was_measured() -> None:
    spec = mujoco.MjSpec()
    contact.OPTIONS.apply(spec)
    option = spec.compile().opt
    assert option.timestep == 1 / 240 and option.cone == mujoco.mjtCone.mjCONE_ELLIPTIC and option.impratio >= 10
    assert option.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
