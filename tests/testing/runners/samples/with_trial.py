"""Run by trial as a child."""

import os
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SkipTest

from tests.testing.row_context import control
from trafficmock.testing.trial import TestCase

APP, UPSTREAM = os.environ.get("SAMPLE_APP", ""), os.environ.get("SAMPLE_UPSTREAM", "")


class SampleTests(TestCase):
    """Tests as coroutine and as Deferred; the last one's handler fails."""

    def get(self) -> Deferred[Any]:
        command = {"kind": "http", "url": f"{UPSTREAM}/json/trial"}
        return deferToThread(control, APP, "request", command)

    async def test_coroutine(self) -> None:
        await self.trafficmock.route("**/trial", lambda route, _: route.fulfill(body="mock"))
        outcome = await self.get()
        self.assertEqual(outcome["body"], "mock")

    def test_deferred(self) -> Any:
        def fetches(route: Any) -> Any:
            fetched = route.fetch().addCallback(lambda response: response.json())
            return fetched.addCallback(lambda read: route.fulfill(body=read["from"]))

        routed: Any = self.trafficmock.route("**/trial", fetches)
        routed.addCallback(lambda _: self.get())
        routed.addCallback(lambda outcome: self.assertEqual(outcome["body"], "upstream"))
        routed.addCallback(lambda _: self.trafficmock.requests("**/trial"))
        routed.addCallback(lambda requests: requests[0].header_value("Host"))
        routed.addCallback(lambda host: self.assertIn(host, UPSTREAM))
        return routed

    async def test_handler_fails(self) -> None:
        def broken(route: Any, request: Any) -> None:
            raise ValueError("in the handler")

        await self.trafficmock.route("**/trial", broken)
        await self.get()

    async def test_two_handlers_fail(self) -> None:
        """What is left is more than one error."""
        number = iter(range(2))

        def broken(route: Any) -> None:
            raise KeyError(f"handler {next(number)}")

        await self.trafficmock.route("**/trial", broken)
        await self.get()
        await self.get()

    async def test_fails(self) -> None:
        """An ordinary failure."""
        await self.get()
        self.assertEqual(1, 2)

    def test_skipped(self) -> None:
        """A test that a wrapper must leave alone."""
        raise SkipTest("not now")
