"""Every case against one proxy, while ten well-behaved clients are being served."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from twisted.trial.unittest import SynchronousTestCase

from tests.abuse.case import get, post
from tests.abuse.case_runner import CaseRunner
from tests.abuse.cases import GROUPS
from tests.abuse.upstream import Upstream
from tests.hostile.case import HostileTestCase
from tests.hostile.clients.raw import pause

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.abuse.case import Case


class AbuseTests(HostileTestCase):
    """One answer to each, nothing smuggled, nobody else harmed."""

    async def setUp(self) -> None:  # type: ignore[override] # trial waits for it
        await super().setUp()
        self.upstream = Upstream()
        await self.upstream.start()
        self.addCleanup(self.upstream.stop)
        self.runner = CaseRunner(self.url, self.upstream)

    async def connected(self) -> set[str]:
        """Ask REST who is connected, leaving out the party that the cases themselves are.

        It stays for a while, so that the redirects that a client follows can be linked.
        """
        report = await self.get("/api/connections")
        agents = [row for row in report["nodeAgents"] if row.get("kind") != "proxy"]
        return {row["connectionId"] for row in agents + report["runnerWorkers"]}

    async def all_of(self, group: str) -> None:
        """Run the cases of a group, and report all that go wrong."""
        wrong = []
        for case in GROUPS[group]:
            wrong += [f"{case.name}: {fault}" for fault in await self.run_one(case)]
        await self.well_behaved.go_on()
        self.assertEqual(wrong, [], "\n".join(["", *wrong]))

    async def run_one(self, case: Case) -> list[str]:
        return await self.runner.run(case)

    async def test_request_lines(self) -> None:
        """A request line is method, target and version, with single blanks between."""
        await self.all_of("request lines")

    async def test_targets(self) -> None:
        """A target is forwarded as it is, or refused."""
        await self.all_of("targets")

    async def test_host(self) -> None:
        """There is one ``Host``, and the upstream is told the one that the target names."""
        await self.all_of("Host")

    async def test_fields(self) -> None:
        """A field is a token, a colon, and a value without control characters, in one line."""
        await self.all_of("fields")

    async def test_framing(self) -> None:
        """A request whose end can be read in two ways is refused."""
        await self.all_of("framing")

    async def test_chunks(self) -> None:
        """Chunks are read strictly, and framed anew for the upstream."""
        await self.all_of("chunks")

    async def test_hop_by_hop(self) -> None:
        """What concerns one connection ends there; what Connection must not name stays."""
        await self.all_of("hop by hop")

    async def test_connect(self) -> None:
        """CONNECT takes a host and a port, and what follows is held to the same rules."""
        await self.all_of("CONNECT")

    async def test_pipelines(self) -> None:
        """Requests are answered in order, up to the first bad one."""
        await self.all_of("pipelines")

    async def test_answers(self) -> None:
        """An upstream's bad answer is a 502, and never reaches another request."""
        await self.all_of("upstream's answers")

    async def test_client_gone(self) -> None:
        """A client that is gone takes its request to the server along, whatever was left of it."""
        for sent in (get(), post(b"Content-Length: 10", body=b"abcd")):
            self.upstream.expect(b"", ends=False)
            raw = await self.come()
            raw.write(self.runner.filled(get()))
            await self.soon(lambda: len(self.upstream.seen) == 1)
            asked = self.upstream.asked
            raw.write(self.runner.filled(sent))
            raw.reset()
            await self.soon(partial(self.is_closed, asked))
            self.assertEqual(len(self.upstream.seen), 1)

    def is_closed(self, connection: object) -> bool:
        return connection not in self.upstream.open

    async def soon(self, satisfied: Callable[[], bool]) -> None:
        """Wait for what the proxy is to bring about."""
        for _ in range(500):
            if satisfied():
                return
            await pause(0.02)
        self.fail("it never came about")


class CaseTests(SynchronousTestCase):
    """The list of cases."""

    def test_names(self) -> None:
        """Each case of a group has a name of its own, by which it can be found."""
        for group, cases in GROUPS.items():
            counted = Counter(case.name for case in cases)
            self.assertEqual([name for name, count in counted.items() if count > 1], [], group)

    def test_enough(self) -> None:
        """There are many cases, and of each group some are let through and some are not."""
        self.assertGreater(sum(map(len, GROUPS.values())), 400)
        for group, cases in GROUPS.items():
            statuses = {status for case in cases for status in case.answers}
            self.assertTrue({200} < statuses, group)
