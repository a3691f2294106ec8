"""
``polling``: the time to a decision while clients read the history.

Requests are sent at fixed times. If each was sent only after the last decision, a
reader that blocks the proxy for 20 ms would delay one request of hundreds, and no
percentile would show it.
"""

from __future__ import annotations

import contextlib
import statistics
from argparse import ArgumentParser, Namespace

from attrs import frozen

from benchmarks import options as common
from benchmarks.figures import milliseconds
from benchmarks.generator.event_loop import EventLoop
from benchmarks.generator.loads import Load
from benchmarks.generator.poller import Poller
from benchmarks.generator.session import Session
from benchmarks.report import table, write_json
from benchmarks.targets import Running, Target, running

ADDED_P99_MS = 10.0
WORST_MS = 100.0
_POLL_PAUSE = 0.05
_SUMMARY = "/api/history?fields=summary"
_FULL = "/api/history"
_QUIET = "nothing"


@frozen
class Wait:
    """
    The times to a decision in milliseconds, and the polls that were answered meanwhile.

    :param what: the path that was polled, or ``nothing``.
    :param poll_ms: median time of a poll.
    :param poll_bytes: size of the last answer, in bytes.
    :param late_ms: the largest delay of the generator itself (``SessionRun.late``).
    """

    what: str
    p50_ms: float
    p99_ms: float
    worst_ms: float
    polls: int
    poll_ms: float
    poll_bytes: int
    late_ms: float


def add_arguments(parser: ArgumentParser) -> None:
    """Options of this subcommand."""
    common.add_target(parser)
    common.add_run_options(parser, rounds=5)
    parser.add_argument("--entries", type=int, default=1000, help="default: %(default)s")
    parser.add_argument(
        "--entry-bytes",
        type=int,
        default=100_000,
        help="size of an entry's response body as it travels, in base64 (default: %(default)s)",
    )
    parser.add_argument(
        "--per-second", type=float, default=200.0, help="requests due (default: %(default)s)"
    )


def run(options: Namespace) -> bool:
    """Measure with and without readers, in turns, and return whether both limits are kept."""
    target = common.target(options, ("--history-limit", str(options.entries)))
    waits = _measure(options, target)
    added = statistics.median(
        polled.p99_ms - quiet.p99_ms
        for polled, quiet in zip(waits[_SUMMARY], waits[_QUIET], strict=True)
    )
    worst = max(wait.worst_ms for wait in waits[_FULL])
    rows = [_row(what, taken) for what, taken in waits.items()]
    print(
        table(
            ("meanwhile", "p50 ms", "p99 ms", "worst ms", "polls", "each ms", "MB", "late ms"), rows
        )
    )
    print(f"polling the summary adds {added:.1f} ms to the p99 (under {ADDED_P99_MS:.0f} wanted)")
    print(f"worst wait beside a full list: {worst:.1f} ms (under {WORST_MS:.0f} wanted)")
    if options.json:
        result = {"waits": waits, "added_p99_ms": added, "worst_ms": worst}
        write_json(options.json, {target.name: target.version}, result)
    return added < ADDED_P99_MS and worst < WORST_MS


def _measure(options: Namespace, target: Target) -> dict[str, list[Wait]]:
    """Fill the history; measure without readers, with polls, and with one full list, in turns."""
    amount = common.run_options(options)
    load = Load(
        name="polling",
        title="1 test, 1 route, requests at fixed times",
        response_bytes=options.entry_bytes * 3 // 4,
        warmup=options.entries + 200,
        requests=1000,
        in_flight=4,
    )
    waits: dict[str, list[Wait]] = {_QUIET: [], _SUMMARY: [], _FULL: []}
    with running(target) as proxy, contextlib.closing(EventLoop()) as loop:
        session = Session(loop, proxy.address, load)
        session.run(load.warmup, amount.seconds)
        for _ in range(amount.rounds):
            for what, taken in waits.items():
                wait = _wait(
                    *(loop, proxy, session),
                    what=what,
                    count=amount.scaled(load.requests),
                    per_second=options.per_second,
                )
                taken.append(wait)
        session.close()
    return waits


def _wait(
    loop: EventLoop, proxy: Running, session: Session, *, what: str, count: int, per_second: float
) -> Wait:
    session.settle()
    poller = Poller(loop, proxy.address, what)
    if what == _SUMMARY:
        poller.start(count, _POLL_PAUSE)
    elif what == _FULL:
        poller.start(1, 0.0)
    taken = session.run_paced(count, per_second, count / per_second + 60)
    poller.stop()
    loop.run_until(lambda: poller.idle, 60, f"the last answer to {what}")
    return Wait(
        what=what,
        p50_ms=milliseconds(taken.latencies, 0.5),
        p99_ms=milliseconds(taken.latencies, 0.99),
        worst_ms=milliseconds(taken.latencies, 1.0),
        polls=len(poller.seconds),
        poll_ms=statistics.median(poller.seconds) * 1000 if poller.seconds else 0.0,
        poll_bytes=poller.bytes,
        late_ms=taken.late * 1000,
    )


def _row(what: str, taken: list[Wait]) -> list[str]:
    def middle(name: str) -> float:
        values: list[float] = [getattr(wait, name) for wait in taken]
        return statistics.median(values)

    return [
        what,
        f"{middle('p50_ms'):.2f}",
        f"{middle('p99_ms'):.2f}",
        f"{max(wait.worst_ms for wait in taken):.1f}",
        f"{middle('polls'):.0f}",
        f"{middle('poll_ms'):.1f}",
        f"{middle('poll_bytes') / 1e6:.2f}",
        f"{max(wait.late_ms for wait in taken):.1f}",
    ]
