"""What marks, option and ini file say of strict mode together."""

from types import SimpleNamespace
from typing import Any

import pytest
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.testing import strict_marks, unowned_requests
from trafficmock.wire.outbound import Unmatched
from trafficmock.wire.payloads.refused_request import UnmatchedRequest


def config(*, option: bool = False, strict: bool = False, allow: tuple[str, ...] = ()) -> Any:
    ini = {"trafficmock_strict": strict, "trafficmock_allow": [*allow]}
    return SimpleNamespace(getoption=lambda _: option, getini=ini.__getitem__, stash=pytest.Stash())


def item(given: Any, *marks: Any) -> Any:
    """Make a test.

    :param marks: the nearest first.
    """
    return SimpleNamespace(config=given, iter_markers=lambda _: [each.mark for each in marks])


mark = pytest.mark.trafficmock


class MarkTests(SynchronousTestCase):
    """How they combine."""

    def test_together(self) -> None:
        """The nearest that says strict wins; what is allowed adds up."""
        plain, run = config(), config(option=True, allow=("run.test",))
        for given, marks, expected in (
            (plain, (), (False, (), False)),
            (plain, (mark(strict=True),), (True, (), False)),
            (plain, (mark(allow=["a"]), mark(strict=True, allow=["b"])), (True, ("b", "a"), False)),
            (plain, (mark(strict=False), mark(strict=True)), (False, (), False)),
            (run, (), (True, ("run.test",), False)),
            (run, (mark(allow=["a"]),), (True, ("run.test", "a"), False)),
            (run, (mark(strict=False, allow=["a"]),), (False, ("run.test", "a"), True)),
            (config(strict=True), (), (True, (), False)),
        ):
            self.assertEqual(tuple(strict_marks.settings(item(given, *marks)).values()), expected)

    def test_mistakes(self) -> None:
        """A mark that means nothing is an error that says what was meant."""
        for wrong, text in (
            (mark("strict"), "no argument without a name, and has 'strict'"),
            (mark(stric=True), "no argument stric; did you mean strict?"),
            (mark(hosts=[]), "no argument hosts. Its form is"),
            (mark(strict="yes"), "strict='yes': it is True or False"),
            (mark(allow="auth.example"), "allow='auth.example': it is a list"),
            (mark(allow=[5]), "allow=[5]: it is a list"),
        ):
            with self.assertRaises(strict_marks.MarkError) as caught:
                strict_marks.settings(item(config(), wrong))
            self.assertIn(text, str(caught.exception))


def row(url: str, count: int) -> UnmatchedRequest:
    return UnmatchedRequest("GET", url, "shop", "http", count, f"GET {url} is not mocked")


class UnownedTests(SynchronousTestCase):
    """What fails the run."""

    def told(self, *lists: list[UnmatchedRequest]) -> Any:
        """Give the session of a controller whose workers were told these lists."""
        controller = config()
        for requests in lists:
            worker = SimpleNamespace(workeroutput={})
            answer = Unmatched("q", requests, 1 if requests else 0)
            connection: Any = SimpleNamespace(unmatched=lambda answer=answer: answer)
            unowned_requests.collect(worker, connection)  # type: ignore[arg-type] # enough of one
            unowned_requests.add_of_worker(controller, worker.workeroutput)
        return SimpleNamespace(config=controller, exitstatus=pytest.ExitCode.OK)

    def written(self, session: Any) -> list[str]:
        lines: list[str] = []
        reporter: Any = SimpleNamespace(
            config=session.config,
            line=lines.append,
            section=lambda title, **_: lines.append(title),
        )
        unowned_requests.write(reporter)
        return lines

    def test_once(self) -> None:
        """Workers that are told the same list have one list together."""
        first = [row("http://a.test/", 2)]
        session = self.told(first, [row("http://a.test/", 3), row("http://b.test/", 1)], [])
        unowned_requests.fail_run(session)
        self.assertEqual(session.exitstatus, pytest.ExitCode.TESTS_FAILED)
        title, *lines, what_to_do = self.written(session)
        self.assertEqual(title, "requests without a test, refused by strict mode: 5")
        self.assertEqual(
            lines,
            [
                "GET http://a.test/, client shop (3 times)",
                "  GET http://a.test/ is not mocked",
                "GET http://b.test/, client shop",
                "  GET http://b.test/ is not mocked",
                "and 1 more, of which no list is kept",
            ],
        )
        self.assertIn("Whose request is it?", what_to_do)

    def test_nothing(self) -> None:
        """Without such requests nothing is said, and a run that failed keeps its status."""
        for session in (self.told(), self.told([], [])):
            unowned_requests.fail_run(session)
            self.assertEqual((session.exitstatus, self.written(session)), (0, []))
        session = self.told([row("http://a.test/", 1)])
        session.exitstatus = pytest.ExitCode.INTERRUPTED
        unowned_requests.fail_run(session)
        self.assertEqual(session.exitstatus, pytest.ExitCode.INTERRUPTED)
