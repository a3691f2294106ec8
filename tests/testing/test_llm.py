"""Streamed answers of language models, for their SDKs."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE
from typing import Any
from unittest import skipUnless

from twisted.trial.unittest import SynchronousTestCase

from tests.testing.runs import APPLICATIONS
from tests.testing.shared_app import shared_app
from trafficmock.testing import llm, sync

SAMPLES = Path(__file__).with_name("samples") / "llm_streams.json"
"""The streams of both languages: for each class the events, as name and data."""

CLIENT = [sys.executable, str(APPLICATIONS / "llm_client.py")]
KINDS: dict[str, type[Any]] = {
    "chat": llm.ChatCompletion,
    "response": llm.ModelResponse,
    "message": llm.AnthropicMessage,
}
URLS = {"chat": "**/v1/chat/completions", "response": "**/v1/responses", "message": "**/messages"}
ENDS = {"chat": "tool_calls", "response": "Hello", "message": "tool_use"}
ERRORS = {
    "chat": ["APIError", "too busy"],
    "response": ["ResponseErrorEvent", "too busy"],
    "message": [
        "APIStatusError",
        "{'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'too busy'}}",
    ],
}

FAILURES: list[dict[str, Any]] = [
    {"status": 429, "headers": {"retry-after-ms": "1"}, "json": {}},
    {"fault": "connection_reset"},
]


class Written:
    """A stream that keeps what is sent."""

    def __init__(self) -> None:
        self.content = b""

    def send(self, data: str | bytes) -> None:
        self.content += data.encode() if isinstance(data, str) else data

    def events(self) -> list[list[Any]]:
        """Give the name and the data of each event."""
        return list(map(_read, self.content.decode().strip().split("\n\n")))


def _read(event: str) -> list[Any]:
    fields = dict(line.split(": ", 1) for line in event.split("\n"))
    data = fields["data"]
    return [fields.get("event"), data if data == "[DONE]" else json.loads(data)]


def finish(answer: Any) -> None:
    """Tell the end, with seven tokens in all."""
    if isinstance(answer, llm.AnthropicMessage):
        answer.finish(output_tokens=7)
    else:
        answer.finish(input_tokens=3, output_tokens=4)


class WireTests(SynchronousTestCase):
    """What is sent."""

    def test_both_languages(self) -> None:
        """Text, two calls of tools, the end and an error are those of the samples."""
        samples = json.loads(SAMPLES.read_text(encoding="utf-8"))
        for kind, answer_class in KINDS.items():
            stream = Written()
            answer = answer_class(stream, model="m")
            answer.text("Hel")
            answer.text("lo")
            answer.tool_call("weather", {"city": "Oslo"})
            answer.tool_call("time", {}, call_id="call_2")
            finish(answer)
            answer_class(stream, model="m").error("too busy")
            self.assertEqual(stream.events(), samples[kind], kind)


@skipUnless(find_spec("openai") and find_spec("anthropic"), "the SDKs are there in the deep run")
class SdkTests(SynchronousTestCase):
    """What the SDKs of OpenAI and Anthropic make of it, behind the forward proxy."""

    def setUp(self) -> None:
        self.proxy = shared_app().proxy.url

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the application."""
        proxy = {"HTTP_PROXY": self.proxy, "http_proxy": self.proxy}
        return subprocess.Popen([*CLIENT, *arguments], stdout=PIPE, env={**os.environ, **proxy})

    def asks(self, kind: str, retries: int = 0) -> Iterator[Any]:
        """Let an application ask; give what its SDK gives."""
        with self.start(kind, "http://llm.test", str(retries)) as application:
            yield from map(json.loads, application.stdout or ())

    def test_token_by_token(self) -> None:
        """Each token is there when its call is done, then the tools, the end and the usage."""
        for kind, answer_class in KINDS.items():
            with self.subTest(kind), sync.mocks(self.proxy) as mocks:
                stream = mocks.stream(URLS[kind], content_type=llm.EVENT_STREAM)
                answer, told = answer_class(stream), self.asks(kind)
                first = next_of(told)
                answer.text("Hel")
                self.assertEqual(first(), ["text", "Hel"])
                answer.text("lo")
                self.assertEqual(next(told), ["text", "lo"])
                answer.tool_call("weather", {"city": "Oslo"})
                finish(answer)
                stream.end()
                rest = [["tool", ["weather", {"city": "Oslo"}]], ["end", ENDS[kind]], ["usage", 7]]
                self.assertEqual(list(told), rest)

    def test_error(self) -> None:
        """An error in the middle is the SDK's own."""
        for kind, answer_class in KINDS.items():
            with self.subTest(kind), sync.mocks(self.proxy) as mocks:
                stream = mocks.stream(URLS[kind], content_type=llm.EVENT_STREAM)
                answer, told = answer_class(stream), self.asks(kind)
                first = next_of(told)
                answer.text("Hel")
                self.assertEqual(first(), ["text", "Hel"])
                answer.error("too busy")
                stream.end()
                self.assertEqual(list(told), [["error", ERRORS[kind]]])

    def test_retries(self) -> None:
        """The SDK tries again after 429 and after a reset connection, and reads the stream then."""
        for kind, answer_class in KINDS.items():
            with self.subTest(kind), sync.mocks(self.proxy) as mocks:
                stream = mocks.stream(URLS[kind], content_type=llm.EVENT_STREAM)
                failed = mocks.mock(URLS[kind], sequence=FAILURES, times=2)
                answer, told = answer_class(stream), self.asks(kind, retries=2)
                first = next_of(told)
                answer.text("Hel")
                self.assertEqual(first(), ["text", "Hel"])
                self.assertEqual(failed.call_count, 2)
                finish(answer)
                stream.end()
                self.assertEqual([line[0] for line in told], ["end", "usage"])


class AttachedSdkTests(SdkTests):
    """The same in an application that ``trafficmock run`` attaches."""

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        run = [sys.executable, "-m", "trafficmock", "run", "--proxy-url", self.proxy, "--"]
        return subprocess.Popen([*run, *CLIENT, *arguments], stdout=PIPE)


def next_of(told: Iterator[Any]) -> Any:
    """Start the application, which tells nothing yet; give what waits for its first line."""
    result: list[Any] = []
    thread = threading.Thread(target=lambda: result.append(next(told)))
    thread.start()

    def wait() -> Any:
        thread.join(60)
        return result[0]

    return wait
