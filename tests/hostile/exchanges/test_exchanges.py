"""Every case against one proxy, while ten well-behaved clients are being served."""

from collections import Counter
from collections.abc import Callable
from functools import partial

from twisted.trial.unittest import SynchronousTestCase

from tests.hostile.case import HostileTestCase
from tests.hostile.clients.raw import pause
from tests.hostile.exchanges.case import get, post
from tests.hostile.exchanges.cases import GROUPS
from tests.hostile.exchanges.upstream import Upstream


class ExchangeTests(HostileTestCase):
    """One answer to each, nothing smuggled, nobody else harmed."""

    async def all_of(self, group: str) -> None:
        await self.assert_cases(GROUPS[group])

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
        runner = await self.case_runner()
        upstream = runner.upstream
        for sent in (get(), post(b"Content-Length: 10", body=b"abcd")):
            upstream.expect(b"", ends=False)
            raw = await self.come()
            raw.write(runner.filled(get()))
            await self.soon(lambda: len(upstream.seen) == 1)
            asked = upstream.asked
            raw.write(runner.filled(sent))
            raw.reset()
            await self.soon(partial(self.is_closed, asked, upstream))
            self.assertEqual(len(upstream.seen), 1)

    def is_closed(self, connection: object, upstream: Upstream) -> bool:
        return connection not in upstream.open

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
        self.assertGreater(sum(map(len, GROUPS.values())), 700)
        for group, cases in GROUPS.items():
            outcomes = {(*case.answers, case.closes) for case in cases}
            self.assertTrue(any(set(each) <= {101, 200, None} for each in outcomes), group)
            self.assertTrue(any(not set(each) <= {101, 200, None} for each in outcomes), group)
