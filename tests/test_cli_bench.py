"""The speed benchmark, on its smallest size: every promised number is there and can be true."""

from __future__ import annotations

import json

import pytest

from embodiedsmith import cli


def test_speed_gives_every_promised_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "speed", "-n", "1", "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    promised = {
        "step_ratio", "episodes_per_hour_state", "episodes_per_hour_two_cameras", "four_step_episodes_per_hour", "frame_ms",
        "scenario_seconds", "peak_mb",
    }  # fmt: skip
    assert promised <= told.keys()
    assert all(told[name] > 0 for name in promised)
    assert told["step_ratio"] < 1.05  # the full step holds the raw one
    assert told["episodes_per_hour_two_cameras"] < told["episodes_per_hour_state"]
    assert told["peak_mb"] > 50
