"""The benchmark of the many-fingered hand: what it tries is drawn apart and again alike, and what came of it is summed up."""

from __future__ import annotations

import pytest

from embodiedsmith.bench import hand
from embodiedsmith.bench.hand import Shaken
from embodiedsmith.motion import MotionError
from embodiedsmith.spec import AssetSpec, Pose, Scenario
from embodiedsmith.tasks import Recording, Session


def test_every_deed_is_tried_and_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[Pose] = []
    tasks: list[Scenario] = []

    def shaken(thing: AssetSpec, at: Pose, seed: int) -> Shaken:
        places.append(at)
        if thing.category == "orange":
            raise MotionError("pick.slipped", "it rolled away")
        return Shaken(moved=0.001 if thing.category == "can" else 0.03, held=True, fingertips=True)

    def demonstrate(session: Session, rng: object) -> Recording:
        tasks.append(session.world.scenario)
        raise hand.SettleError(())

    monkeypatch.setattr(hand, "shaken", shaken)
    monkeypatch.setattr(hand, "demonstrate", demonstrate)
    said: list[str] = []
    found = hand.measure(n=2, say=said.append)
    assert found["attempts"] == len(said) == 12 and found["succeeded"] == 2
    assert found["deeds"]["shake can"] | {"interval": []} == {
        "attempts": 2, "succeeded": 2, "interval": [], "failures": {}, "most_moved_mm": 1.0,
    }  # fmt: skip
    failures = {deed: of["failures"] for deed, of in found["deeds"].items()}
    assert failures["shake brick"] == {"shake.slipped": 2} and failures["shake orange"] == {"pick.slipped": 2}
    assert all(failures[deed] == {"world.unsettled": 2} for deed in ("turn cube in hand", "turn knob", "open faucet"))
    assert len(set(places)) == 6 and all(-0.18 <= at.position[0] <= 0.0 and abs(at.position[1]) <= 0.15 for at in places)
    turned = [task.scene.items[1].pose for task in tasks[2:]]
    assert len({pose.position for pose in turned if pose is not None}) == 4
    assert hand.lines(found)[0] == "shake can: 2 of 2 (34 to 100 %)"
    places.clear()
    again = hand.measure(n=2)
    assert again == found and len(set(places)) == 6
