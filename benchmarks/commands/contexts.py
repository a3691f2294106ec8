"""``contexts``: CPU of the core for requests with a test's context, and for requests without."""

from __future__ import annotations

import gc
import time
from argparse import ArgumentParser, Namespace
from statistics import median

from msgspec import UNSET

from benchmarks.report import table
from trafficmock.core.coordinator import Coordinator
from trafficmock.core.effects import Effect, Moment, Note, Send, Wake
from trafficmock.core.settings import Settings
from trafficmock.history.store import History
from trafficmock.wire import inbound
from trafficmock.wire.codec import decode, encode
from trafficmock.wire.features import OF_AGENTS, OF_WORKERS
from trafficmock.wire.inbound import Message
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Fulfill
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher
from trafficmock.wire.payloads.serialized_request import SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedResponse

RATIO_AT_MOST = 1.05
_WORKERS = 8
_REQUESTS = 400
_NOW = Moment(1.0, 1)
_CASES = {"fulfilled": "http://h0.test/a", "passed through": "http://other.test/"}


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    parser.add_argument(
        "--rounds", type=int, default=60, help="of each side, in turns (default: %(default)s)"
    )


def run(options: Namespace) -> bool:
    """Measure requests with and without a context in turns.

    All of it runs in this process, without sockets: decoding, deciding, recording, encoding.

    :returns: whether the ratio is at most :data:`RATIO_AT_MOST`.
    """
    rows, ratios = [], []
    for case, url in _CASES.items():
        pairs = [(_seconds(url, ""), _seconds(url, f"{0:032x}")) for _ in range(options.rounds)]
        without, with_context = (min(side) for side in zip(*pairs, strict=True))
        ratios.append(median(carried / plain for plain, carried in pairs))
        micros = [f"{seconds / _REQUESTS * 1e6:.1f}" for seconds in (without, with_context)]
        rows.append([case, *micros, f"{ratios[-1]:.3f}"])
    print(table(("request", "CPU µs without", "CPU µs with", "ratio (median)"), rows))
    return all(ratio <= RATIO_AT_MOST for ratio in ratios)


def _seconds(url: str, context: str) -> float:
    """Return the CPU seconds of the requests of one agent, with a test of each of eight workers.

    :param context: of the requests; empty for none.
    """
    core, history = Coordinator(Settings(version="1")), History()
    for message in _introductions():
        core.connect(message[0], _NOW)
        for each in message[1:]:
            core.handle(message[0], each, _NOW)
    response = SerializedResponse(200, "OK", {}, body.from_bytes(b"x"))
    request = SerializedRequest(url, "GET", {"accept": "*/*"}, body.NULL)
    payloads = [
        encode(inbound.RequestStart(f"r{number}", "app", request, context=context or UNSET))
        for number in range(_REQUESTS)
    ]
    decisions = [
        encode(inbound.HandlerResult(f"r{number}", Fulfill(response)))
        for number in range(_REQUESTS)
    ]
    gc.collect()
    gc.disable()
    try:
        begun = time.process_time()
        for payload, decision in zip(payloads, decisions, strict=True):
            _perform(core.handle("agent", decode(payload), _NOW), history)
            _perform(core.handle("w0", decode(decision), _NOW), history)
        return time.process_time() - begun
    finally:
        gc.enable()


def _introductions() -> list[tuple[str, *tuple[Message, ...]]]:
    """Return the first messages of an agent and of workers with a test and a route each."""
    agent = inbound.Hello(3, "1", "node", features=list(OF_AGENTS))
    said: list[tuple[str, *tuple[Message, ...]]] = [("agent", agent)]
    for number in range(_WORKERS):
        test_id, matcher = f"t{number}", SerializedMatcher(url_glob=f"http://h{number}.test/a")
        said.append(
            (
                f"w{number}",
                inbound.Hello(3, "1", "playwright", features=list(OF_WORKERS)),
                inbound.TestRegister(test_id, "t", "f", str(number), f"{number:032x}"),
                inbound.RouteRegister(f"q{number}", test_id, matcher),
            )
        )
    return said


def _perform(effects: list[Effect], history: History) -> None:
    for effect in effects:
        if isinstance(effect, Send):
            encode(effect.message)
        elif not isinstance(effect, Wake | Note):
            history.record(effect, 1)  # type: ignore[arg-type] # the rest
