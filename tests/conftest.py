"""Loads the package before anything else: it chooses MuJoCo's renderer, which is too late once MuJoCo is imported.

And no test can reach beyond this machine: neither a hosted language model, nor anything else.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import embodiedsmith  # noqa: F401
from embodiedsmith.episodes import report_pictures


class OutsideError(RuntimeError):
    """A test wanted to talk to another machine."""


def is_here(address: object) -> bool:
    """Whether an address of a socket is this machine's own: loopback, or no internet address at all."""
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(autouse=True, scope="session")
def _own_lessons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests learn out of the user's lessons, and the user's out of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EMBODIEDSMITH_HOME", str(tmp_path_factory.getbasetemp() / "home"))
        yield


@pytest.fixture(autouse=True, scope="module")
def _small_films(request: pytest.FixtureRequest) -> Iterator[None]:
    """Reports made in this process get small videos: a large one takes seconds to draw. `test_report` looks at a large one."""
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__ != "test_report":
            patch.setattr(report_pictures, "VIDEO", (80, 60))
        yield


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse connections and look-ups beyond loopback, whatever in a test asks for them; and hosted models before that."""

    def guarded(name: str) -> None:
        real = getattr(socket.socket, name)

        def call(self: socket.socket, address: object, *more: Any) -> Any:
            if not is_here(address):
                raise OutsideError(f"a test wanted to reach {address}")
            return real(self, address, *more)

        monkeypatch.setattr(socket.socket, name, call)

    guarded("connect")
    guarded("connect_ex")
    look_up = socket.getaddrinfo

    def resolve(host: Any, *more: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and not is_here((name,)):
            raise OutsideError(f"a test wanted to look up {name}")
        return look_up(host, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for variable in ("MODEL", "BASE_URL", "API_KEY"):
        monkeypatch.delenv(f"EMBODIEDSMITH_LLM_{variable}", raising=False)
    if (models := sys.modules.get("pydantic_ai.models")) is not None:  # loaded with the tests that speak to models
        monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)
