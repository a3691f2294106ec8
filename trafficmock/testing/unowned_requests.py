"""What strict mode refused and no test owns: the list fails a pytest run, once for all workers.

Every run looks here at its end, also one without mocks: so this imports only what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
    from trafficmock.wire.payloads.refused_request import UnmatchedRequest

_OUTPUT = "trafficmock_unowned"
_UNOWNED: pytest.StashKey[dict[tuple[str, ...], UnmatchedRequest]] = pytest.StashKey()
_DROPPED: pytest.StashKey[int] = pytest.StashKey()


def collect(config: pytest.Config, connection: ThreadedConnection) -> None:
    """Ask for the list at the end of a worker's tests."""
    answer = connection.unmatched()
    if answer is None:
        return
    output = getattr(config, "workeroutput", None)
    if output is None:
        _add(config, answer.requests, answer.dropped)
    else:
        import msgspec  # noqa: PLC0415 - only where it is needed

        output[_OUTPUT] = {
            "requests": msgspec.to_builtins(answer.requests),
            "dropped": answer.dropped,
        }


def add_of_worker(config: pytest.Config, output: dict[str, Any]) -> None:
    """Add the list of a worker of xdist; all workers get the same list."""
    told = output.get(_OUTPUT)
    if told is not None:
        import msgspec  # noqa: PLC0415 - only where it is needed

        from trafficmock.wire.payloads.refused_request import UnmatchedRequest  # noqa: PLC0415

        requests = msgspec.convert(told["requests"], list[UnmatchedRequest])
        _add(config, requests, told["dropped"])


def _add(config: pytest.Config, requests: list[UnmatchedRequest], dropped: int) -> None:
    """Add a list; a request that is in several counts as in the last of them."""
    known = config.stash.setdefault(_UNOWNED, {})
    for each in requests:
        key = each.kind, each.method, each.url, each.client_id
        if key not in known or known[key].count < each.count:
            known[key] = each
    config.stash[_DROPPED] = max(dropped, config.stash.get(_DROPPED, 0))


def fail_run(session: pytest.Session) -> None:
    """Fail a run that would have passed."""
    if session.config.stash.get(_UNOWNED, {}) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def write(reporter: pytest.TerminalReporter) -> None:
    """Write the list at the end of the run's report."""
    requests = reporter.config.stash.get(_UNOWNED, {}).values()
    if not requests:
        return
    from trafficmock.testing.session.unowned_text import UNOWNED, unowned_lines  # noqa: PLC0415 - only where it is needed

    dropped = reporter.config.stash[_DROPPED]
    total = sum(each.count for each in requests) + dropped
    reporter.section(f"{UNOWNED}: {total}", red=True, bold=True)
    for line in unowned_lines(requests, dropped):
        reporter.line(line)
