"""Those who fall silent: strangers, clients, and processes that are stopped."""

import os
import signal
import sys
from typing import Any
from unittest import skipUnless

from twisted.internet.threads import deferToThread

from tests.hostile.case import CLAIM_SECONDS, HostileTestCase, request
from tests.hostile.clients.frames import PING, frame
from tests.hostile.clients.raw import Raw, pause, reactor
from tests.hostile.clients.stoppable import NAME
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import REPOSITORY

CLAIM_MS = f"{CLAIM_SECONDS * 1000:.0f} ms"
HELLO_SECONDS, BEAT_SECONDS, IDLE_SECONDS = 0.8, 0.3, 1.2
IMPATIENT = (
    *("--hello-timeout-ms", str(round(HELLO_SECONDS * 1000))),
    *("--heartbeat-ms", str(round(BEAT_SECONDS * 1000))),
    *("--idle-timeout-ms", str(round(IDLE_SECONDS * 1000))),
)
CLOSE_SECONDS = 5.0
"""From our close frame to the end of the connection, when nobody answers it."""

LOITER_SECONDS = 60.0
"""For a head of HTTP, and between requests."""

LATE = 20.0
"""Seconds that a busy machine may be late."""


class StrangerTests(HostileTestCase):
    """Connections that never say hello."""

    options = IMPATIENT

    async def test_hello_deadline(self) -> None:
        """A stranger is shown out in time, also one that is busy with heartbeats and pings."""
        begun = reactor.seconds()
        silent, beating, pinging = [await self.upgraded() for _ in range(3)]
        for _ in range(3):
            beating.send({"type": "pong", "at": 1})
            pinging.write(frame(b"alive", opcode=PING))
            self.assertEqual(await pinging.frame(), (0x8A, b"alive"))
            await pause(HELLO_SECONDS / 4)
        for raw in (silent, beating, pinging):
            answer = await raw.message()
            self.assertEqual((answer["type"], answer["code"]), ("hello:error", "invalid_hello"))
            self.assertIn("--hello-timeout-ms", answer["message"])
            self.assertEqual((await raw.close_frame())[0], 1008)
        self.assertLess(reactor.seconds() - begun, HELLO_SECONDS + LATE)
        self.assertEqual(await self.connected(), self.well_behaved.connection_ids())
        # Nobody answers the close frames: the connections end all the same.
        for raw in (silent, beating, pinging):
            self.assertEqual(await raw.end(CLOSE_SECONDS + LATE), b"")


class ClientTests(HostileTestCase):
    """Clients that do not answer any more."""

    options = IMPATIENT

    async def assert_cut(self, raw: Raw) -> None:
        begun = reactor.seconds()
        await raw.end()
        self.assertLess(reactor.seconds() - begun, IDLE_SECONDS + 2 * BEAT_SECONDS + LATE)
        self.assertIn("--idle-timeout-ms", self.service.peek())

    async def test_idle(self) -> None:
        """A client that answers no heartbeat is cut; frames of WebSocket are no answer."""
        idle, pinging = await self.client("node"), await self.client("playwright")
        for _ in range(6):
            await pause(IDLE_SECONDS / 6)
            pinging.write(frame(b"", opcode=PING))
        await self.assert_cut(idle)
        await self.assert_cut(pinging)

    async def test_agent_vanishes(self) -> None:
        """A half-open agent neither reads nor answers: it is cut, and its worker told."""
        worker, agent = await self.worker_with_test(), await self.client("node")
        agent.send(request("vanished"))
        agent.stop_reading()
        news = await self.beating(worker, "request:response", "vanished")
        self.assertFalse(news["ok"])
        self.assertEqual(news["error"]["code"], "disconnected")

    async def test_worker_vanishes(self) -> None:
        """A half-open worker neither reads nor answers: it is cut, and the agent answered."""
        worker, agent = await self.worker_with_test(), await self.client("node")
        worker.stop_reading()
        agent.send(request("vanished"))
        decision = await self.beating(agent, "decision:error", "vanished")
        self.assertIn(decision["code"], ("disconnected", "claim_timeout"))

    async def beating(self, raw: Raw, kind: str, about: str) -> dict[str, dict[str, str]]:
        """Wait for a message, answering heartbeats meanwhile."""
        raw.answers_heartbeats = True
        return await raw.of_type(kind, about=about)


class StoppedWorkerTests(HostileTestCase):
    """A worker whose process is stopped, as in a debugger or a swamped machine."""

    async def test_claim_timeout(self) -> None:
        """Its agent gets ``claim_timeout`` in time, whether it was asked or matched directly."""
        for how, words in (("ask", "No answer within"), ("tell", "no sign of life")):
            worker = await self.start(how)
            agent = await self.client("node", NAME)
            os.kill(worker.process.pid, signal.SIGSTOP)
            begun = reactor.seconds()
            agent.send(request("stopped", NAME))
            decision = await agent.message()
            took = reactor.seconds() - begun
            self.assertEqual(
                (decision["type"], decision["code"]), ("decision:error", "claim_timeout")
            )
            self.assertIn(words, decision["message"])
            self.assertIn("stop.ts", decision["message"])
            self.assertIn(CLAIM_MS, decision["message"])
            self.assertIn("--claim-timeout-ms", decision["message"])
            self.assertTrue(CLAIM_SECONDS * 0.9 < took < CLAIM_SECONDS + LATE, took)
            await self.well_behaved.go_on()
            worker.process.kill()
            await deferToThread(worker.stop)

    async def test_later_steps(self) -> None:
        """The same holds for one that claimed a request or a WebSocket, or asked for a fetch."""
        opening: dict[str, Any] = {"type": "ws:connection", "clientId": NAME, "socketId": "later"}
        opening |= {"url": "ws://hostile.test/x", "protocols": []}
        for how, opened, refusal in (
            ("claim", request("later", NAME), "decision:error"),
            ("fetch", request("later", NAME), "decision:error"),
            ("socket", opening, "ws:error"),
        ):
            worker = await self.start(how)
            agent = await self.client("node", NAME)
            begun = reactor.seconds()
            agent.send(opened)
            if how == "fetch":
                await agent.of_type("decision:fetch")
            decision = await agent.of_type(refusal)
            took = reactor.seconds() - begun
            self.assertEqual(decision["code"], "claim_timeout", how)
            self.assertIn("no sign of life", decision["message"])
            self.assertIn(CLAIM_MS, decision["message"])
            self.assertIn("stop.ts", decision["message"])
            self.assertTrue(CLAIM_SECONDS * 0.9 < took < CLAIM_SECONDS + LATE, (how, took))
            await self.well_behaved.go_on()
            worker.process.kill()
            await deferToThread(worker.stop)

    async def start(self, how: str) -> Child:
        argv = [sys.executable, "-m", "tests.hostile.clients.stoppable", self.url, how]
        worker = Child.start("the worker to be stopped", argv, env={}, cwd=REPOSITORY)
        self.addCleanup(worker.process.kill)
        await deferToThread(worker.announced)
        return worker


class LoiterTests(HostileTestCase):
    """HTTP connections that take their time; a minute, so this is for deep runs."""

    timeout = 200

    @skipUnless(DEEP, "takes more than a minute: TRAFFICMOCK_DEEP=1")
    async def test_dripping_head(self) -> None:
        """A head that comes a byte now and then has its minute, like a silent connection."""
        silent, dripping = await self.come(), await self.come()
        begun = reactor.seconds()
        for byte in b"GET /health HTTP/1.1\r\nx: " + b"d" * 100:
            if dripping.ended:
                break
            dripping.write(bytes([byte]))
            await pause(1.0)
        self.assertEqual(await dripping.end(), b"")
        self.assertEqual(await silent.end(), b"")
        self.assertLess(reactor.seconds() - begun, LOITER_SECONDS + 5)
