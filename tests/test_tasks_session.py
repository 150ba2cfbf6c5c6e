"""An attempt is remembered whole, repeats bit for bit, succeeds only when it does, and ends typed when the world goes bad."""

import numpy as np
import pytest
from task_worlds import BLOCK_GRIP, STILL, kitchen, p

from embodiedsmith.runtime.errors import UsageError
from embodiedsmith.runtime.seeds import generator
from embodiedsmith.spec import All, Goal, Not, Predicate, Sequence
from embodiedsmith.tasks import Failure, Recording, Session, replay
from embodiedsmith.world import World, WorldFault

ON = p("on", "block", "table")
NEVER = p("lifted", "mug")


@pytest.fixture(scope="module")
def world() -> World:
    """A world that every test resets; its own goal never holds."""
    return World(kitchen(NEVER))


def session(goal: Goal, *, horizon: float = 60.0, hold_steps: int = 4) -> Session:
    return Session(World(kitchen(goal, horizon=horizon, hold_steps=hold_steps, randomization=STILL)), seed=7, attempt=3)


def wave(world: World, steps: int) -> list[np.ndarray]:
    """Smooth motions of the whole arm and the gripper about home, shape (action_size,) each."""
    phase = np.arange(world.action_size)
    home = np.append(world.home, 0.5)
    return [home + 0.1 * np.sin(0.2 * t + phase) - 0.1 * np.sin(phase) for t in range(steps)]


def run(world: World, steps: int, seed: int = 0) -> Recording:
    s = Session(world, seed=seed)
    s.reset(generator(seed, "attempt"))
    for action in wave(world, steps):
        s.step(action, "wave")
    return s.finish()


def test_rows_pair_what_was_seen_before_an_action_with_it(world: World) -> None:
    s = Session(world, seed=7, attempt=3)
    margin = s.reset(generator(0, "attempt"))
    seen, states, margins = [world.observe()], [world.save()], [margin]
    actions = wave(world, 12)
    for k, action in enumerate(actions):
        margins.append(s.step(action, f"wave {k}"))
        seen.append(world.observe())
        states.append(world.save())
    assert s.initial_margin == margins[0]
    assert np.array_equal(s.state, states[-1])
    r = s.finish(cost={"plans": 2.0})
    assert (r.scenario_id, r.seed, r.attempt, r.length, r.cost) == (world.scenario.id, 7, 3, 12, {"plans": 2.0})
    assert np.array_equal(r.states, np.array(states))
    assert np.array_equal(r.actions, np.array(actions))
    assert np.array_equal(r.margins, margins)
    assert r.labels == tuple(f"wave {k}" for k in range(12))
    assert set(r.observations) == set(world.observation_slices)
    for name, at in world.observation_slices.items():
        assert np.array_equal(r.observations[name], np.array(seen)[:, at])
    assert r.predicate_names == ("lifted(mug)",)
    assert np.array_equal(r.predicate_margins[:, 0], r.margins)


def test_two_sessions_with_one_seed_agree_bit_for_bit_and_replay(world: World) -> None:
    first = run(world, 40)
    second = run(World(world.scenario), 40)
    assert first.states.tobytes() == second.states.tobytes()
    assert first.margins.tobytes() == second.margins.tobytes()
    assert first.events == second.events
    assert replay(world, first, generator(0, "attempt")) == 0.0
    assert replay(world, first, generator(1, "attempt")) > 1e-3
    assert not np.array_equal(first.states, run(world, 40, seed=1).states)


def test_replay_finds_a_changed_action_and_refuses_another_scenario(world: World) -> None:
    r = run(world, 5)
    changed = r.actions.copy()
    changed[3, 0] += 1e-9
    assert replay(world, Recording(**{**r.__dict__, "actions": changed}), generator(0, "attempt")) > 0.0
    with pytest.raises(UsageError, match="recording is of scenario 0123456789abcdef"):
        replay(world, Recording(**{**r.__dict__, "scenario_id": "0123456789abcdef"}), generator(0, "attempt"))


def test_a_session_used_again_forgets_and_leaves_what_it_gave_alone(world: World) -> None:
    s = Session(world)
    s.reset(generator(0, "attempt"))
    for action in wave(world, 6):
        s.step(action)
    first = s.finish()
    kept = first.states.copy()
    s.reset(generator(1, "attempt"))
    s.step(wave(world, 1)[0])
    second = s.finish()
    assert (first.length, second.length) == (6, 1)
    assert np.array_equal(first.states, kept)
    assert second.failure is not None
    assert second.failure.code == "goal.not_reached"


def test_buffers_grow(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("embodiedsmith.tasks.watch.FIRST_ROWS", 4)
    small = run(world, 30)
    monkeypatch.undo()
    assert small.states.tobytes() == run(world, 30).states.tobytes()
    assert small.observations["tcp_pose"].shape == (31, 7)


def test_success_is_the_goal_held_at_rest_for_so_many_steps_and_at_the_end() -> None:
    s = session(ON)
    s.reset(np.random.default_rng(0))
    assert s.initial_margin > 0
    still = s.world.command
    reached = []
    for _ in range(5):
        s.step(still)
        reached.append(s.succeeded)
    assert reached == [False, False, True, True, True]  # the state after reset is the first of the four
    r = s.finish()
    assert r.outcome == "success"
    assert r.failure is None
    assert [e.step for e in r.events if e.kind == "goal_reached"] == [3]


def test_a_goal_lost_before_the_end_is_no_success() -> None:
    s = session(ON)
    s.reset(np.random.default_rng(0))
    for _ in range(5):
        s.step(s.world.command)
    assert s.succeeded
    at = s.world.items["block"].qpos
    s.world.data.qpos[at + 2] += 0.3
    s.step(s.world.command)
    assert not s.succeeded
    r = s.finish()
    assert r.outcome == "failure"
    assert r.failure is not None
    assert (r.failure.code, r.failure.subjects) == ("goal.not_reached", ("on(block, table)",))
    assert r.failure.value == r.margins[-1] < 0


def test_a_goal_that_holds_in_a_moving_world_is_not_settled() -> None:
    s = session(ON)
    s.reset(np.random.default_rng(0))
    dof = s.world.items["can"].dof
    for _ in range(6):
        s.world.data.qvel[dof] = 0.5
        s.step(s.world.command)
    assert s.margin > 0
    r = s.finish()
    assert r.failure is not None
    assert r.failure.code == "goal.not_settled"


def test_the_horizon_is_a_timeout() -> None:
    s = session(NEVER, horizon=0.3)
    s.reset(np.random.default_rng(0))
    assert s.horizon_steps == 6
    for _ in range(6):
        assert not s.timed_out
        s.step(s.world.command)
    assert s.timed_out
    failure = s.finish().failure
    assert failure is not None
    assert failure.code == "goal.timeout"
    assert "0.3 s is over" in failure.message
    assert failure.value == pytest.approx(-0.05, abs=1e-3)


def test_whoever_drives_may_say_why_it_failed(world: World) -> None:
    s = session(ON)
    s.reset(np.random.default_rng(0))
    for _ in range(5):
        s.step(s.world.command)
    why = Failure(code="pick.slip", skill="pick(block)", value=0.01)
    r = s.finish(why)
    assert (r.outcome, r.failure) == ("failure", why)


def break_action(s: Session) -> np.ndarray:
    return np.full(s.world.action_size, np.nan)


def break_velocity(s: Session) -> np.ndarray:
    s.world.data.qvel[:] = 1e12
    return s.world.command


def break_shape(s: Session) -> np.ndarray:
    return s.world.command[:-1]


@pytest.mark.parametrize(
    ("damage", "code"),
    [(break_action, "world.bad_action"), (break_shape, "world.bad_action"), (break_velocity, "world.engine_warning")],
)  # fmt: skip
def test_a_bad_world_ends_the_attempt_typed(world: World, damage: object, code: str) -> None:
    s = Session(world)
    s.reset(generator(0, "attempt"))
    for action in wave(world, 10):
        s.step(action)
    good = s.state
    with pytest.raises(WorldFault):
        s.step(damage(s))  # type: ignore[operator]
    assert not s.succeeded
    with pytest.raises(UsageError, match="not running"):
        s.step(world.command)
    r = s.finish(Failure(code="pick.slip"))
    assert r.outcome == "failure"
    assert r.failure is not None
    assert (r.failure.code, r.failure.step) == (code, 10)
    assert r.length == 10
    assert np.array_equal(r.states[-1], good)
    assert np.isfinite(r.states).all()
    assert r.events[-1].kind == "world_fault"
    assert replay(world, r, generator(0, "attempt")) == 0.0


def test_order_of_calls_is_checked(world: World) -> None:
    s = Session(world)
    with pytest.raises(UsageError, match=r"not running[\s\S]*call reset\(\) first"):
        s.step(world.command)
    with pytest.raises(UsageError, match=r"no attempt to finish[\s\S]*call reset\(\) first"):
        s.finish()


def test_hands_tell_grasps_releases_and_drops() -> None:
    s = session(Not(goal=NEVER))
    w = s.world
    s.reset(np.random.default_rng(0))
    w.set_robot(w.data, w.home, BLOCK_GRIP)
    at = w.items["block"].qpos
    x, y, z = w.tcp()[:3, 3].tolist()
    w.data.qpos[at : at + 3] = x, y, z - 0.0225
    closed, opened = np.append(w.home, 1.0), np.append(w.home, 0.0)
    for _ in range(12):
        s.step(closed)
    for _ in range(10):
        s.step(opened)
    w.set_robot(w.data, w.home, BLOCK_GRIP)
    w.data.qpos[at : at + 7] = x, y, z - 0.0225, 1, 0, 0, 0
    for _ in range(10):
        s.step(closed)
    w.data.qpos[at : at + 3] = 0.0, 1.0, 1.0
    for _ in range(5):
        s.step(closed)
    told = [(e.kind, e.subjects) for e in s.finish().events if e.kind in ("grasped", "released", "dropped")]
    assert told == [(kind, ("block",)) for kind in ("grasped", "released", "grasped", "dropped")]


def test_leaning_on_a_thing_with_both_fingers_is_no_grasp() -> None:
    s = session(Not(goal=NEVER))
    w = s.world
    s.reset(np.random.default_rng(0))
    forward = np.append(w.home, 1.0)
    forward[5] = 3.4
    touched = False
    for k in range(30):
        forward[1] = w.home[1] + 0.05 * k
        s.step(forward)
        touched = touched or (w.touching("finger_0", "basket") and w.touching("finger_1", "basket"))
    assert touched
    assert not [e for e in s.finish().events if e.kind == "grasped"]


def test_the_robot_hitting_the_table_is_told_once() -> None:
    s = session(Not(goal=NEVER))
    w = s.world
    s.reset(np.random.default_rng(0))
    mug = w.items["mug"].qpos
    w.data.qpos[mug : mug + 3] = 2.0, 0.0, 0.0  # out of the way
    down = np.append(w.home, 1.0)
    down[5] = 0.4  # fingers back towards the base, so that the wrist arrives first
    for k in range(40):
        down[1] = w.home[1] + 0.05 * min(k, 34)
        s.step(down)
    hits = [e for e in s.finish().events if e.kind == "collision"]
    assert [e.subjects for e in hits if "table" in e.subjects] == [("robot", "table")]


def test_a_sequence_is_followed_through_an_attempt() -> None:
    stages: tuple[Predicate, ...] = (p("open", "unit.drawer_top"), p("closed", "unit.drawer_top"))
    s = session(All(goals=(Sequence(goals=stages), ON)), hold_steps=2)
    s.reset(np.random.default_rng(0))
    address = s.world.joint_qpos["unit.drawer_top"]
    for position in (0.0, 0.0, 0.0, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0):
        s.world.data.qpos[address] = position
        s.world.data.qvel[s.world.joint_dof["unit.drawer_top"]] = 0.0
        s.step(s.world.command)
        if position > 0:
            assert not s.succeeded
    assert s.monitor.stages == (1,)
    r = s.finish()
    assert r.outcome == "success"
    assert r.predicate_names == ("open(unit.drawer_top)", "closed(unit.drawer_top)", "on(block, table)")
    assert (r.margins[:4] < -0.9).all()
