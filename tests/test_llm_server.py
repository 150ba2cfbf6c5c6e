"""The language-model agent over real HTTP: a llama.cpp server on this machine, held to the schema, and bad servers."""

from __future__ import annotations

import gzip
import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import OutsideError, is_here
from pydantic_ai.models import override_allow_model_requests

from embodiedsmith.forge.agents import get
from embodiedsmith.forge.agents.llm import LLMAgent, LLMError, NoAnswer, Settings, TooLong, Unreachable
from embodiedsmith.forge.agents.llm import settings as names
from embodiedsmith.forge.agents.llm.schema import Answer
from embodiedsmith.forge.language import CannotBe, NotUnderstood
from embodiedsmith.spec import Brief

BRIEF = Brief(text="put the mug on the plate", agent="llm")
KEY = "k-3f9a17c2"


@pytest.fixture(autouse=True)
def _local() -> Iterator[None]:
    """Requests go out here, and can only reach this machine."""
    with override_allow_model_requests(True):
        yield


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that wants a key, with a tiny model."""
    pytest.importorskip("xllamacpp")
    import llm_server

    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    llm_server.write_model(path)
    server = llm_server.serve(path, key=KEY)
    yield server.url
    del server


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """The server's key, in the environment."""
    monkeypatch.setenv(names.API_KEY, KEY)
    return KEY


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_real_model_is_held_to_the_schema(url: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(names.MODEL, "tiny")
    monkeypatch.setenv(names.BASE_URL, url)
    agent = get("llm", log=tmp_path)
    with pytest.raises((NoAnswer, NotUnderstood, CannotBe)):  # random weights make no sense, but they make the shape
        agent.propose(BRIEF, rng())
    text = next(tmp_path.iterdir()).read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    answers = [line for line in lines if line["kind"] == "answer"]
    assert 1 <= len(answers) <= Settings(model="tiny").tries
    for answer in answers:
        Answer.model_validate_json(answer["text"])
        assert 0 < answer["output_tokens"] < answer["input_tokens"]
        assert answer["seconds"] > 0
    assert KEY not in text


def test_an_answer_too_long_for_its_tokens_is_a_typed_error(url: str, key: str) -> None:
    agent = LLMAgent(Settings(model="tiny", base_url=url, answer_tokens=20, tries=1, seconds=60))
    with pytest.raises(LLMError) as caught:
        agent.propose(BRIEF, rng())
    assert "tiny" in caught.value.what


def test_tokens_are_capped_over_all_tries(url: str, key: str) -> None:
    agent = LLMAgent(Settings(model="tiny", base_url=url, tokens=1000))
    with pytest.raises(TooLong, match="within 1000 tokens"):
        agent.propose(BRIEF, rng())


def test_a_wrong_key_is_told_without_telling_it(url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(names.API_KEY, "wrong-key-77")
    with pytest.raises(Unreachable, match="401") as caught:
        LLMAgent(Settings(model="tiny", base_url=url), log=tmp_path).propose(BRIEF, rng())
    assert names.API_KEY in str(caught.value.remedy)
    assert "wrong-key-77" not in str(caught.value) + next(tmp_path.iterdir()).read_text()


def serving(reply: bytes) -> tuple[socket.socket, str]:
    """A server that sends `reply` to whoever asks, for ever, or nothing at all when it is empty."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        kept = []
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            kept.append(connection)
            if reply:
                threading.Thread(target=send, args=(connection,), daemon=True).start()

    def send(connection: socket.socket) -> None:
        try:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(2000):
                connection.sendall(f"{len(reply):x}\r\n".encode() + reply + b"\r\n")
        except OSError:
            return

    threading.Thread(target=serve, daemon=True).start()
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


@pytest.mark.parametrize("slow", [b"", b" " * 16])
def test_a_server_that_never_ends_is_given_up(slow: bytes) -> None:
    listener, url = serving(slow)
    began = time.monotonic()
    with listener, pytest.raises(LLMError):
        LLMAgent(Settings(model="tiny", base_url=url, seconds=1.0)).propose(BRIEF, rng())
    assert time.monotonic() - began < 6.0


def test_a_reply_without_end_is_cut() -> None:
    listener, url = serving(b"x" * 4096)
    with listener, pytest.raises(TooLong, match="more than 10000 bytes"):
        LLMAgent(Settings(model="tiny", base_url=url, answer_bytes=10_000, seconds=20.0)).propose(BRIEF, rng())


def replying(status: int, body: bytes, **headers: str) -> tuple[http.server.HTTPServer, str]:
    """A server that gives the same reply to whatever is posted."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/v1"


def completion(text: str | None) -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    made = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage, "choices": [choice]}
    return json.dumps({**made, "choices": []} if text == "nothing" else made).encode()


@pytest.mark.parametrize(
    ("status", "body", "headers", "kind"),
    [
        (200, b"<html>not here</html>", {"Content_Type": "text/html"}, Unreachable),
        (200, b"", {}, Unreachable),
        (200, b"[]", {}, Unreachable),
        (200, completion("nothing"), {}, Unreachable),
        (404, b"<html>no</html>", {"Content_Type": "text/html"}, Unreachable),
        (302, b"", {"Location": "http://192.0.2.1/"}, Unreachable),
        (200, b"zzz", {"Content_Encoding": "gzip"}, Unreachable),
        (200, gzip.compress(b" " * 100_000_000), {"Content_Encoding": "gzip"}, TooLong),
        (200, completion(None), {}, NoAnswer),
        (200, completion("\ud800"), {}, LLMError),
        (200, completion("[" * 10_000), {}, NoAnswer),
        (200, completion('{"understood": NaN}'), {}, NoAnswer),
    ],
)
def test_a_server_that_answers_otherwise_is_a_typed_error(
    status: int, body: bytes, headers: dict[str, str], kind: type[LLMError], tmp_path: Path
) -> None:
    server, url = replying(status, body, **headers)
    try:
        with pytest.raises(kind) as caught:
            LLMAgent(Settings(model="tiny", base_url=url, seconds=20.0), log=tmp_path).propose(BRIEF, rng())
    finally:
        server.shutdown()
    assert caught.value.remedy
    assert json.loads(next(tmp_path.iterdir()).read_text().splitlines()[-1])["error"]["what"] == caught.value.what


def test_nobody_there_is_told_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match="cannot be asked") as caught:
        LLMAgent(Settings(model="tiny", base_url=f"http://127.0.0.1:{port}/v1")).propose(BRIEF, rng())
    assert names.BASE_URL in str(caught.value.remedy)


def test_no_test_reaches_beyond_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_here(("127.0.0.1", 80)) and is_here(("::1", 80, 0, 0)) and is_here("/tmp/socket")
    with pytest.raises(OutsideError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(OutsideError):
        socket.getaddrinfo("models.example", 443)
    monkeypatch.setenv(names.API_KEY, KEY)
    hosted = LLMAgent(Settings(model="openai:gpt-5.2", seconds=20.0))
    with override_allow_model_requests(False), pytest.raises(RuntimeError, match="not allowed"):
        hosted.propose(BRIEF, rng())
    with pytest.raises(OutsideError):
        hosted.propose(BRIEF, rng())
