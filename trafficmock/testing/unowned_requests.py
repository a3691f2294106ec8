"""The requests without a test that strict mode refused: they fail a pytest run, once for all.

A run in which strict mode saw no application fails as well. What frameworks sent for themselves is
only told.

Every run with the plugin calls this module at its end, even without mocks, so it imports the rest
of the package only when it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from trafficmock.testing.adapters.threaded_connection import ThreadedConnection
    from trafficmock.wire.outbound import Unmatched
    from trafficmock.wire.payloads.refused_request import UnmatchedRequest

_OUTPUT = "trafficmock_unowned"
_UNOWNED: pytest.StashKey[dict[tuple[str, ...], UnmatchedRequest]] = pytest.StashKey()
_FRAMEWORKS: pytest.StashKey[dict[tuple[str, ...], UnmatchedRequest]] = pytest.StashKey()
_DROPPED: pytest.StashKey[int] = pytest.StashKey()
_NO_APPLICATION: pytest.StashKey[list[str]] = pytest.StashKey()
"""What each worker was told of a missing application: a text, or an empty one."""


def collect(config: pytest.Config, connection: ThreadedConnection) -> None:
    """Ask the proxy for the refused requests at the end of a worker's tests, and keep them.

    A worker of xdist passes them to the controller in ``workeroutput``.
    """
    answer = connection.unmatched()
    if answer is None:
        return
    output = getattr(config, "workeroutput", None)
    if output is None:
        _add(config, answer)
    else:
        import msgspec  # noqa: PLC0415 - only where it is needed

        output[_OUTPUT] = msgspec.to_builtins(answer)


def add_of_worker(config: pytest.Config, output: dict[str, Any]) -> None:
    """Add the refused requests that a worker of xdist reports; all workers report the same."""
    reported = output.get(_OUTPUT)
    if reported is not None:
        import msgspec  # noqa: PLC0415 - only where it is needed

        from trafficmock.wire.outbound import Unmatched  # noqa: PLC0415

        _add(config, msgspec.convert(reported, Unmatched))


def _add(config: pytest.Config, answer: Unmatched) -> None:
    """Merge refused requests into the list of the run.

    The proxy counts for the whole run: of several counts of a request, the highest is the latest.
    """
    for key, requests in (_UNOWNED, answer.requests), (_FRAMEWORKS, answer.frameworks or []):
        known = config.stash.setdefault(key, {})
        for each in requests:
            name = each.kind, each.method, each.url, each.client_id
            if name not in known or known[name].count < each.count:
                known[name] = each
    config.stash[_DROPPED] = max(answer.dropped, config.stash.get(_DROPPED, 0))
    config.stash.setdefault(_NO_APPLICATION, []).append(answer.no_application or "")


def _no_application(config: pytest.Config) -> str:
    """Return the error of a run without an application; an empty text if a worker saw one."""
    reported = config.stash.get(_NO_APPLICATION, [])
    return reported[0] if reported and all(reported) else ""


def fail_run(session: pytest.Session) -> None:
    """Fail a run that would pass if strict mode saw no application, or requests without a test."""
    is_failed = session.config.stash.get(_UNOWNED, {}) or _no_application(session.config)
    if is_failed and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def write(reporter: pytest.TerminalReporter) -> None:
    """Write the refused requests, or that no application was seen, at the end of the report."""
    if missing := _no_application(reporter.config):
        reporter.section("strict mode saw no application", red=True, bold=True)
        reporter.line(missing)
    requests = reporter.config.stash.get(_UNOWNED, {}).values()
    of_frameworks = reporter.config.stash.get(_FRAMEWORKS, {}).values()
    if not requests and not of_frameworks:
        return
    from trafficmock.testing.session import unowned_text  # noqa: PLC0415 - only where it is needed

    if of_frameworks:
        total = sum(each.count for each in of_frameworks)
        reporter.section(f"{unowned_text.FRAMEWORKS}: {total}", yellow=True)
        for line in unowned_text.request_lines(of_frameworks):
            reporter.line(line)
    if requests:
        dropped = reporter.config.stash[_DROPPED]
        total = sum(each.count for each in requests) + dropped
        reporter.section(f"{unowned_text.UNOWNED}: {total}", red=True, bold=True)
        for line in unowned_text.unowned_lines(requests, dropped):
            reporter.line(line)
