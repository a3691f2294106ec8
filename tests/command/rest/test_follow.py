"""Following a list: first with recorded answers of a proxy, then with one that is killed."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.trial.unittest import SynchronousTestCase

from tests.command.traffic import Traffic, request
from tests.support.processes.interrupts import WITH_SIGINT
from tests.support.processes.proxy_process import REPOSITORY, free_port, running_proxy, until
from trafficmock.command.output.terminal import Terminal
from trafficmock.command.rest import follow
from trafficmock.command.rest.follow import AWAY_SECONDS, POLL_SECONDS, RESTARTED, Follower
from trafficmock.command.rest.list_resources import REQUESTS
from trafficmock.command.rest.rest_client import RestResponse, UnreachableError


class Over(Exception):  # noqa: N818 - nothing is wrong
    """The script is at its end."""


def entry(entry_id: str, at: int, action: str = "fulfill", status: int | None = 200) -> Any:
    outcome: dict[str, Any] = {"kind": "mocked"}
    if status is not None:
        outcome["response"] = {"status": status, "statusText": ""}
    return {
        "id": entry_id,
        "timestamp": at,
        "clientId": "shop",
        "request": {"url": "http://x/", "method": "GET"},
        "outcome": outcome,
        "action": action,
    }


@define
class ScriptedProxy:
    """Answers lists from a script: what changed, oldest first; ``None`` for 304; or an error.

    :param removed: what each list of changes says is gone.
    """

    script: list[Any]
    known: dict[str, Any] = field(factory=dict)
    removed: list[str] = field(factory=list)
    lost: int = 0
    asked: list[tuple[dict[str, Any], str | None]] = field(factory=list)

    def get(
        self, path: str, query: dict[str, Any] | None = None, etag: str | None = None
    ) -> RestResponse:
        """Play the next answer."""
        if query is None:
            there = self.known.get(path.rpartition("/")[2])
            if isinstance(there, Exception):
                raise there
            return RestResponse(200 if there else 404, None, {"entry": there} if there else {})
        self.asked.append(({k: v for k, v in query.items() if v is not None}, etag))
        step = self.script.pop(0) if self.script else Over()
        if callable(step):
            step = step(self)
        if isinstance(step, Exception):
            raise step
        if step is None:
            return RestResponse(304, "tag", {})
        changes = {"removed": self.removed} if query.get("since") else {}
        return RestResponse(200, f"tag{len(self.asked)}", {"entries": step[::-1], **changes})


class FollowerTests(SynchronousTestCase):
    """What is asked, and what is printed."""

    def setUp(self) -> None:
        self.out, self.complaints = io.StringIO(), [""]
        self.slept: list[float] = []
        self.accepts: Callable[[Any], bool] = lambda _: True
        self.patch(follow, "complain", self.complaints.append)

    def follow(
        self,
        *script: Any,
        first: int = 10,
        width: int | None = None,
        removed: Sequence[str] = (),
        **known: Any,
    ) -> ScriptedProxy:
        proxy = ScriptedProxy(list(script), known, list(removed))
        follower = Follower(
            client=proxy,  # type: ignore[arg-type] # plays it
            listing=REQUESTS,
            query={"q": None, "action": None, "from": None},
            terminal=Terminal(out=self.out, width=width, coloured=False),
            as_json=width is None,
            accepts=self.accepts,
            sleep=self.slept.append,
        )
        self.assertRaises(Over, follower.run, first)
        return proxy

    def printed(self) -> list[tuple[str, str]]:
        lines = map(json.loads, self.out.getvalue().splitlines())
        return [(line["id"], line["action"]) for line in lines]

    def test_new_and_changed(self) -> None:
        """An entry is printed when it comes and again when its state changes, not otherwise."""
        pending = entry("b", 2, "pending", None)
        self.follow([entry("a", 1)], [entry("a", 1), pending], None, [pending], [entry("b", 2)])
        self.assertEqual(self.printed(), [("a", "fulfill"), ("b", "pending"), ("b", "fulfill")])

    def test_cheap(self) -> None:
        """A poll sends the tag it has, and asks only for what has changed since."""
        proxy = self.follow([entry("a", 10)], [entry("b", 20)], None)
        summary = {"fields": "summary"}
        expected = [
            (summary, None),
            ({"since": "tag1", **summary}, "tag1"),
            ({"since": "tag2", **summary}, "tag2"),
            ({"since": "tag", **summary}, "tag"),
        ]
        self.assertEqual(proxy.asked, expected)
        self.assertEqual(set(self.slept), {POLL_SECONDS})

    def test_late(self) -> None:
        """What began before the newest entry is printed when it is reported, and when it ends."""
        held = entry("a", 10, "continue", None)
        self.follow([held], [entry("b", 10**7)], [entry("c", 20)], [entry("a", 10, "continue")])
        self.assertEqual([entry_id for entry_id, _ in self.printed()], ["a", "b", "c", "a"])

    def test_first(self) -> None:
        """At first the newest are printed; older ones are known, and printed when they change."""
        old = entry("a", 1, "passthrough")
        self.follow([old, entry("b", 2), entry("c", 3)], [old], [entry("a", 1, "abort")], first=2)
        expected = [("b", "fulfill"), ("c", "fulfill"), ("a", "abort")]
        self.assertEqual(self.printed(), expected)

    def test_replaced(self) -> None:
        """An entry that went and came back as another is printed again."""
        self.follow([entry("a", 1), entry("b", 1)], [entry("a", 1)], removed=["a"])
        self.assertEqual([entry_id for entry_id, _ in self.printed()], ["a", "b", "a"])

    def test_columns(self) -> None:
        """Columns grow with what comes, under a new head, and never out of the terminal."""
        refused = entry("b", 2, "abort", None)
        refused["outcome"] = {"errorCode": "connectionrefused"}
        titled = {**entry("c", 3), "title": "test_service_is_down[checkout]"}
        self.follow([entry("a", 1)], [refused], [titled], [entry("d", 4)], width=140)
        lines = self.out.getvalue().splitlines()
        first = [line.split()[0] for line in lines]
        self.assertEqual(first, ["ID", "a", "ID", "b", "ID", "c", "d"])
        self.assertIn(" connectionrefused ", lines[3])
        self.assertTrue(lines[5].endswith(" test_service_is_down[checkout]"), lines[5])
        self.assertLessEqual(max(map(len, lines)), 140)

    def test_no_room(self) -> None:
        """Where there is no more room, long rows change nothing."""
        long = [{**entry(name, at), "title": name * 90} for at, name in enumerate("abcde")]
        self.follow(*([each] for each in long), width=80)
        lines = self.out.getvalue().splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["ID", *"abcde"])

    def test_accepts(self) -> None:
        """What is filtered here is followed all the same, since it may change."""
        self.accepts = lambda entry: "response" in entry["outcome"]
        waiting = entry("a", 10, "passthrough", None)
        self.follow([waiting], [waiting, entry("b", 20)], [entry("a", 10, "passthrough")])
        self.assertEqual(self.printed(), [("b", "fulfill"), ("a", "passthrough")])

    def test_none_to_begin_with(self) -> None:
        """``--limit 0`` prints only what comes from now on."""
        self.follow([entry("a", 1)], [entry("a", 1), entry("b", 2)], first=0)
        self.assertEqual(self.printed(), [("b", "fulfill")])

    def test_away_and_back(self) -> None:
        """A proxy that is away is waited for, and said to be the same when it is."""

        def gone(_: ScriptedProxy) -> Any:
            return UnreachableError("gone")

        self.follow([entry("a", 1)], gone, None, a=entry("a", 1))
        self.assertIn("the proxy is away (gone)", self.complaints[1])
        self.assertEqual(self.complaints[2:], ["the proxy is back"])
        self.assertIn(AWAY_SECONDS, self.slept)

    def test_restarted(self) -> None:
        """A proxy that does not know what it showed is another one, also with the same ids."""
        for known in ({}, {"a": entry("a", 77)}):
            self.complaints = [""]
            self.patch(follow, "complain", self.complaints.append)
            self.follow([entry("a", 1)], UnreachableError("gone"), [entry("z", 99)], **known)
            self.assertEqual(self.complaints[2:], [RESTARTED])
        self.assertIn(("z", "fulfill"), self.printed())

    def test_restarted_between_polls(self) -> None:
        """A restart that no poll met is noticed by the connection that ended."""

        def lose(proxy: ScriptedProxy) -> list[Any]:
            proxy.lost += 1
            return [entry("n", 5)]

        self.follow([entry("a", 1)], lose)
        self.assertEqual(self.complaints[1:], [RESTARTED])


class RestartTests(SynchronousTestCase):
    """The command beside a proxy that is stopped and started again."""

    def test_survives(self) -> None:
        """It says that the proxy is away and was restarted, and goes on with what comes."""
        port = str(free_port())
        folder = Path(self.mktemp())
        folder.mkdir()
        out, err = folder / "out", folder / "err"
        command = [sys.executable, "-m", "trafficmock", "history", "--follow", "--json"]
        with running_proxy("--port", port) as proxy:
            traffic = Traffic.at(proxy.url).everything()
            with out.open("wb") as to_out, err.open("wb") as to_err:
                following = subprocess.Popen(
                    [*WITH_SIGINT, *command, "--proxy-url", proxy.url],
                    stdout=to_out,
                    stderr=to_err,
                    cwd=REPOSITORY,
                    env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
                )
            self.addCleanup(following.wait, 20)
            self.addCleanup(following.kill)
            until(lambda: "evil-" in out.read_text(), following, err)
            traffic.close()
        until(lambda: "the proxy is away" in err.read_text(), following, err)
        with running_proxy("--port", port) as proxy:
            until(lambda: RESTARTED in err.read_text(), following, err)
            traffic = Traffic.at(proxy.url)
            traffic.owned("new-1", request("http://x/charges"), action="abort", errorCode="failed")
            until(lambda: "new-1" in out.read_text(), following, err)
            traffic.close()
            following.send_signal(signal.SIGINT)
            self.assertEqual(following.wait(20), 130)
