"""Asks a model one question under caps on tries, tokens, bytes and seconds, and gets a checked answer or a typed error."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import httpx2
from openai import OpenAIError
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, NativeOutput, RunContext, UsageLimits, capture_run_messages
from pydantic_ai.exceptions import AgentRunError, RunTimedOut, UnexpectedModelBehavior, UsageLimitExceeded, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    TextPart,
    ThinkingPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers import infer_provider_class
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from embodiedsmith.forge.agents.llm.errors import LLMError, NoAnswer, TooLong, Unreachable
from embodiedsmith.forge.agents.llm.exchange import Message, Question
from embodiedsmith.forge.agents.llm.settings import API_KEY, BASE_URL, INSTALL, MODEL, Settings
from embodiedsmith.forge.agents.llm.text import clean
from embodiedsmith.runtime.errors import UsageError

GRACE = 2.0
"""Seconds past the cap after which a question is given up even if it cannot be stopped."""
PACKED = 20
"""How much fewer bytes of a reply are read when it comes packed, though it was asked for plain: it may unpack to far more."""
RESENT = 2
"""How often a request that did not get through is sent again."""

UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)
"""What the client stumbles with over a reply that is not what the protocol says."""

T = TypeVar("T", bound=BaseModel)
Check = Callable[[T], list[str]]
"""What is wrong with an answer, all of it; empty: nothing."""


@dataclass
class Reply(Generic[T]):
    """What came of a question."""

    answer: T | None = None
    error: LLMError | None = None
    messages: list[Message] = field(default_factory=list)
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)
    """Of the last answer that was refused."""
    doubted: T | None = None
    """An answer without faults that the model was asked to look at again."""
    broken: Exception | None = None
    """An error of the check itself, which is no fault of the answer."""


def ask(
    question: Question, output: type[T], *, check: Check[T], doubt: Check[T], settings: Settings, model: Model | None = None
) -> Reply[T]:
    """Ask until an answer passes or a cap is reached; never raises for what the model or the endpoint does.

    Args:
        question: What is asked.
        output: The shape of an answer.
        check: Faults for which an answer is refused; the model is told them and answers again.
        doubt: Faults that it is told once, if tries are left: an answer that it stands by is taken.
        settings: The model and the caps.
        model: Instead of the one that the settings name.

    Raises:
        UsageError: the settings name a provider that is not known or not installed.
    """
    reply: Reply[T] = Reply()
    started = time.monotonic()
    captured: list[ModelMessage] = []

    async def run() -> T:
        nonlocal captured
        async with _http_client(settings) as client:
            agent = _agent(model or _model(settings, client), output, question, settings, check, doubt, reply)
            limits = UsageLimits(request_limit=settings.tries, total_tokens_limit=settings.tokens)
            with capture_run_messages() as captured:
                return (await agent.run(question.request, usage_limits=limits, timeout=settings.seconds)).output

    try:
        reply.answer = _finished(run, settings.seconds + GRACE)
    except (AgentRunError, UserError, OpenAIError, TimeoutError, httpx2.HTTPError, *UNREADABLE) as error:
        if reply.broken is not None:
            raise reply.broken from None
        if reply.doubted is not None and not isinstance(error, TimeoutError):
            reply.answer = reply.doubted
        else:
            answers = sum(isinstance(message, ModelResponse) for message in captured)
            reply.error = _explained(error, settings, reply.faults, answers)
    reply.seconds = time.monotonic() - started
    reply.messages = _messages(list(captured))
    return reply


def _agent(
    model: Model,
    output: type[T],
    question: Question,
    settings: Settings,
    check: Check[T],
    doubt: Check[T],
    reply: Reply[T],
) -> Agent[object, T]:
    made = Agent(
        model,
        output_type=NativeOutput(output),
        instructions=question.instructions,
        retries={"tools": 0, "output": settings.tries - 1},
        model_settings=ModelSettings(
            max_tokens=settings.answer_tokens,
            temperature=settings.temperature,
            seed=question.seed,
            timeout=settings.seconds,
            max_retries=RESENT,
        ),
    )

    @made.output_validator
    def accept(context: RunContext[object], answer: T) -> T:
        try:
            reply.faults = check(answer)
        except Exception as error:
            reply.broken = error
            raise
        if reply.faults:
            raise ModelRetry("The answer cannot be used:\n" + "\n".join(f"- {fault}" for fault in reply.faults))
        if reply.doubted is None and context.retry < settings.tries - 1 and (doubts := doubt(answer)):
            reply.doubted = answer
            lines = "\n".join(f"- {fault}" for fault in doubts)
            raise ModelRetry(f"Please look again; if you are sure, give the same answer:\n{lines}")
        return answer

    return made


def _finished(work: Callable[[], Coroutine[Any, Any, T]], seconds: float) -> T:
    """Run a coroutine in a thread of its own (the caller may be in an event loop) and wait no longer than `seconds`."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(asyncio.run(work()))
        except BaseException as error:  # handed over to the waiting thread, which raises it
            failed.append(error)

    thread = threading.Thread(target=run, name="llm", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError
    return done[0]


def _model(settings: Settings, client: httpx2.AsyncClient) -> Model:
    if settings.base_url is not None:
        key = settings.key() or "none"  # servers on one's own machine ask for none, but the protocol wants one
        provider = OpenAICompatibleProvider("endpoint", base_url=settings.base_url, api_key=key, http_client=client)
        return OpenAIChatModel(settings.model, provider=provider)

    def hosted(name: str) -> Any:
        given = {} if (key := settings.key()) is None else {"api_key": key}  # without: the provider's own variable
        make: Any = infer_provider_class(name)  # those of OpenAI's protocol take both; others are refused below
        return make(http_client=client, **given)

    try:
        return infer_model(settings.model, provider_factory=hosted)
    except ImportError as error:
        raise UsageError(f"'{settings.model}' needs more than is installed: {clean(str(error))}", where=MODEL) from error
    except (UserError, ValueError, TypeError) as error:
        raise UsageError(
            f"'{settings.model}' cannot be used: {clean(str(error))}",
            where=MODEL,
            remedy=f"name a provider that {INSTALL} brings (openai:NAME, openrouter:NAME), or an endpoint in {BASE_URL}; "
            f"the key goes into {API_KEY}",
        ) from error


class _TooMuch(httpx2.HTTPError):
    """A reply of more bytes than allowed."""


@dataclass
class _Counted(httpx2.AsyncByteStream):
    """A reply's bytes, up to a limit."""

    stream: httpx2.AsyncByteStream
    left: int

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self.stream:
            self.left -= len(piece)
            if self.left < 0:
                raise _TooMuch("the reply is too long")
            yield piece

    async def aclose(self) -> None:
        await self.stream.aclose()


def _http_client(settings: Settings) -> httpx2.AsyncClient:
    async def count(response: httpx2.Response) -> None:
        plain = response.headers.get("content-encoding", "identity") == "identity"
        most = settings.answer_bytes if plain else settings.answer_bytes // PACKED
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Counted(response.stream, most)

    timeout = httpx2.Timeout(settings.seconds, connect=min(10.0, settings.seconds))
    return httpx2.AsyncClient(timeout=timeout, headers={"Accept-Encoding": "identity"}, event_hooks={"response": [count]})


# ---------------------------------------------------------------------- what went wrong, what was said


def _explained(error: Exception, settings: Settings, faults: list[str], answers: int) -> LLMError:
    name = f"the language model '{settings.model}' at {settings.endpoint}"
    causes = _causes(error)
    if any(isinstance(cause, _TooMuch) for cause in causes):
        return TooLong(f"{name} answered more than {settings.answer_bytes} bytes", remedy="use another model")
    if isinstance(error, RunTimedOut | TimeoutError):
        return TooLong(f"{name} gave no usable answer within {settings.seconds:g} s", faults=faults, remedy="use a faster model")
    if isinstance(error, UsageLimitExceeded):
        if "request_limit" in str(error):
            return NoAnswer(f"{name} gave no usable answer in {answers} tries", faults=faults, remedy=_OTHER)
        return TooLong(f"{name} gave no usable answer within {settings.tokens} tokens", faults=faults, remedy=_OTHER)
    if isinstance(error, UnexpectedModelBehavior) and answers:
        why = faults or [clean(str(cause)) for cause in causes[:2]]
        return NoAnswer(f"{name} gave no usable answer in {answers} tries", faults=why, remedy=_OTHER)
    if isinstance(error, (UnexpectedModelBehavior, *UNREADABLE)):
        why = [clean(f"{type(error).__name__}: {error}")]
        return Unreachable(f"{name} does not answer as OpenAI's protocol says", faults=why, remedy=_LOOK)
    return Unreachable(f"{name} cannot be asked: {clean(str(error))}", remedy=_LOOK)


_LOOK = f"look whether it runs there, and at {MODEL}, {BASE_URL} and {API_KEY}; without a model use the rule agent"
_OTHER = "say it in simpler words, use a larger model, or the rule agent"


def _causes(error: BaseException) -> list[BaseException]:
    """An error and what it came from, at most ten."""
    found = [error]
    while len(found) < 10 and (before := found[-1].__cause__ or found[-1].__context__) is not None:
        found.append(before)
    return found


def _messages(captured: list[ModelMessage]) -> list[Message]:
    """What was sent and received, in order."""
    said: list[Message] = []
    asked = None
    for message in captured:
        if isinstance(message, ModelRequest):
            asked = message.timestamp
            for part in message.parts:
                if isinstance(part, RetryFeedbackPart):
                    said.append(Message(role="correction", text=_correction(part)))
                elif isinstance(part, UserPromptPart):
                    said.append(Message(role="request", text=str(part.content)))
        elif isinstance(message, ModelResponse):
            text = "".join(part.content for part in message.parts if isinstance(part, TextPart | ThinkingPart))
            took = None if asked is None else round((message.timestamp - asked).total_seconds(), 3)
            said.append(
                Message(
                    role="answer", text=text, seconds=took, input_tokens=message.usage.input_tokens,
                    output_tokens=message.usage.output_tokens, model=message.model_name,
                )
            )  # fmt: skip
    return said


def _correction(part: RetryFeedbackPart) -> str:
    """What the model was told of its answer's faults."""
    try:
        return part.model_response()
    except ValueError:  # it quotes half a character, and could not be sent either
        return str(part.content)
