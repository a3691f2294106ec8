"""Requests that the coordinator answers from the HAR of a route."""

import json
from itertools import count
from sys import getrefcount
from typing import Any

from attrs import evolve
from msgspec import UNSET, Raw, structs

from tests.core.answers.reply_case import ReplyCase
from tests.support.builders import URL, fall_back, glob, request, start
from tests.support.playbook import SETTINGS
from trafficmock import records
from trafficmock.core.effects import Effects, Send
from trafficmock.core.har.har_parts import HarEntryError, read_entry
from trafficmock.wire import inbound, outbound
from trafficmock.wire.codec import decode
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_har import SerializedHar
from trafficmock.wire.payloads.serialized_request import SerializedOverrides

SECRET = "Basic c2tfbGl2"
OTHER = "http://h.test/other"


def entry(
    url: str = URL,
    method: str = "GET",
    text: str = "",
    *,
    sent: str = "",
    lines: Any = (),
    location: str = "",
    **response: Any,
) -> dict[str, Any]:
    """Make an entry; ``sent`` is the body of the request, ``lines`` are its headers."""
    headers = [{"name": "Location", "value": location}] if location else []
    asked: dict[str, Any] = {"method": method, "url": url, "headers": [*map(_line, lines)]}
    if sent:
        asked["postData"] = {"text": sent}
    answer = {"status": 200, "headers": headers, "content": {"text": text}, **response}
    return {"request": asked, "response": answer}


def _line(pair: tuple[str, str]) -> dict[str, str]:
    return {"name": pair[0], "value": pair[1]}


class HarCase(ReplyCase):
    """A test with a route that has a HAR."""

    def setUp(self) -> None:
        super().setUp()
        self.numbers = count(1)

    def replays(self, *entries: Any, **more: Any) -> Effects:
        """Register a route with a HAR of these entries."""
        raw = [Raw(json.dumps(each).encode()) for each in entries]
        har = SerializedHar("some.har", raw, **more)
        self.worker.sends(
            inbound.RouteRegister("q", "buys", glob("**"), place="shop_test.py:7", har=har)
        )
        return self.playbook.take()

    def sends(
        self, url: str = URL, method: str = "GET", content: bytes = b"", **headers: str
    ) -> Effects:
        """Let the application send a request; give what follows the record of it."""
        asked = request(url, method, content, **headers)
        self.agent.sends(inbound.RequestStart(f"r{next(self.numbers)}", "app", asked))
        return self.playbook.take()[1:]

    def answer(self, *asked: Any, **headers: Any) -> str:
        """Give the body of the answer to a request, or how it was refused."""
        for effect in self.sends(*asked, **headers):
            match effect:
                case records.RequestFulfilled():
                    return body.to_bytes(effect.response.body_base64).decode()
                case records.RequestAborted():
                    return f"{effect.error_code}: {effect.detail}"
                case records.RequestFailed():
                    return effect.message
                case records.RequestContinued():
                    return "continued"
        return "nothing"

    def told(self, effects: Effects) -> outbound.RequestReplied:
        """Give what the owner is told."""
        (message,) = [
            each.message
            for each in effects
            if isinstance(each, Send) and isinstance(each.message, outbound.RequestReplied)
        ]
        return message


class ReplayTests(HarCase):
    """The recorded response to a request (Playwright's rules)."""

    def test_response(self) -> None:
        """It is given with status, headers and body; those of the encoded body are left out."""
        lines = [("Content-Encoding", "gzip"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
        coded = {"text": "aGk=", "encoding": "base64"}
        headers = [*map(_line, lines)]
        self.replays(
            entry(status=203, statusText="As It Was", headers=headers, content=coded), None, {}
        )
        effects = self.sends()
        self.assertIs(self.told(effects).action, UNSET)
        (fulfilled,) = [each for each in effects if isinstance(each, records.RequestFulfilled)]
        answer = fulfilled.response
        self.assertEqual((answer.status, answer.status_text), (203, "As It Was"))
        cookies = [("set-cookie", "a=1"), ("set-cookie", "b=2")]
        self.assertEqual(answer.headers_list, [*cookies, ("content-length", "2")])
        self.assertEqual((body.to_bytes(answer.body_base64), answer.url), (b"hi", URL))
        reported = [
            each.message
            for each in effects
            if isinstance(each, Send) and each.to == (self.worker.id,)
        ]
        self.assertIsInstance(reported[-1], inbound.RequestResponse)

    def test_best(self) -> None:
        """Most equal header lines win, then the earliest."""
        self.replays(
            entry(text="plain"), entry(text="with", lines=[("X-A", "1")]), entry(text="late")
        )
        self.assertEqual(self.answer(), "plain")
        self.assertEqual(self.answer(**{"x-a": "1"}), "with")
        self.assertEqual(self.answer(**{"x-a": "2"}), "plain")

    def test_bodies(self) -> None:
        """The body of a POST must be equal; one of other methods, or without a body, may differ."""
        self.replays(
            entry(method="POST", sent="one", text="1"),
            entry(method="POST", sent="two", text="2"),
            entry(method="PUT", sent="one", text="3"),
        )
        self.assertEqual(self.answer(URL, "POST", b"two"), "2")
        self.assertEqual(self.answer(URL, "POST"), "1")
        self.assertEqual(self.answer(URL, "PUT", b"two"), "3")

    def test_boundaries(self) -> None:
        """Multipart bodies are compared without their boundaries."""
        recorded = "--AAA\r\nx\r\n--AAA--"
        kind = ("Content-Type", "multipart/form-data; boundary=AAA")
        self.replays(entry(method="POST", sent=recorded, lines=[kind], text="hit"))
        sent = recorded.replace("AAA", "BBB").encode()
        headers = {"content-type": 'multipart/form-data; boundary="BBB"'}
        self.assertEqual(self.answer(URL, "POST", sent, **headers), "hit")
        self.assertIn("no such request", self.answer(URL, "POST", sent + b"!", **headers))

    def test_redirects(self) -> None:
        """A redirect is an answer: the application follows it, or looks at its ``location``."""
        cookie = [_line(("Set-Cookie", "session=s1")), _line(("Location", "/other"))]
        self.replays(entry(status=302, headers=cookie), entry(OTHER, text="the end"))
        effects = self.sends()
        (given,) = [each for each in effects if isinstance(each, records.RequestFulfilled)]
        self.assertEqual(given.response.status, 302)
        self.assertEqual(given.response.headers["location"], "/other")
        self.assertEqual(given.response.headers["set-cookie"], "session=s1")
        self.assertEqual(self.told(effects).entries, [1])
        self.assertEqual(self.answer(OTHER), "the end")

    def test_followed_redirects(self) -> None:
        """With ``followRedirects`` the HAR follows them, as a client does; a circle has no end."""
        self.replays(
            entry(method="POST", sent="x", status=303, location="/other#part"),
            entry(OTHER, text="the end"),
            entry("http://h.test/keeps", "POST", status=307, location=OTHER),
            entry("http://h.test/circle", status=302, location="/circle"),
            follow_redirects=True,
        )
        self.assertEqual(self.answer(URL, "POST", b"x"), "the end")
        for url, method in (("http://h.test/keeps", "POST"), ("http://h.test/circle", "GET")):
            said = self.answer(url, method)
            self.assertIn("is a redirect, and the end of it is not there", said)

    def test_ways_to_write_requests(self) -> None:
        """Methods may be in lower case; the boundary may stand in ``mimeType`` alone."""
        part = "--A\r\nx\r\n--A--"
        form = entry(method="post", sent=part, text="form")
        form["request"]["postData"]["mimeType"] = "multipart/form-data; boundary=A"
        self.replays(form, entry(OTHER, "get", text="got"))
        self.assertEqual(self.answer(OTHER), "got")
        kind = {"content-type": "multipart/form-data; boundary=B"}
        sent = part.replace("A", "B").encode()
        self.assertEqual(self.answer(URL, "POST", sent, **kind), "form")

    def test_changed_by_a_handler(self) -> None:
        """The request is looked up as the handlers before have changed it."""
        self.replays(entry(OTHER, text="changed"))
        self.test.route()
        self.sends()
        self.worker.sends(fall_back(overrides=SerializedOverrides(url=OTHER)))
        (fulfilled,) = [
            each for each in self.playbook.take() if isinstance(each, records.RequestFulfilled)
        ]
        self.assertEqual(body.to_bytes(fulfilled.response.body_base64), b"changed")


class NotFoundTests(HarCase):
    """Requests that the HAR does not have."""

    def test_aborted(self) -> None:
        """The text names the nearest entry, and not what is in it."""
        self.replays(entry(f"{URL}?a=1"), entry(method="POST", sent=SECRET), entry(OTHER))
        for asked, expected in (
            (
                (URL, "POST", SECRET.upper().encode()),
                f"2 (POST {URL}): the body has 14 bytes, wanted 14; they differ from byte 1",
            ),
            ((URL, "PUT"), f"2 (POST {URL}): method differs ('PUT')"),
            ((f"{OTHER}?b=", "GET"), f'3 (GET {OTHER}): query.b is "", wanted none'),
            (
                ("http://h.test/never", "GET"),
                f"3 (GET {OTHER}): path differs ('/never')",
            ),
        ):
            with self.subTest(asked[1]):
                nearest = f"some.har has no such request. Nearest: entry {expected}"
                self.assertEqual(self.answer(*asked), f"failed: {nearest}")

    def test_empty(self) -> None:
        """An empty HAR has no nearest entry; the owner is told the text."""
        self.replays()
        told = self.told(self.sends("http://h.test/never"))
        self.assertEqual((told.action, told.message), ("abort", "some.har has no such request"))

    def test_fallback(self) -> None:
        """With ``fallback`` the next handler decides, or the real server."""
        self.replays(entry(OTHER, text="recorded"), not_found="fallback")
        effects = self.sends()
        self.assertEqual(self.told(effects).action, "fallback")
        self.assertTrue(any(isinstance(each, records.RequestContinued) for each in effects))
        self.assertEqual(self.answer(OTHER), "recorded")

    def test_fallback_to_a_handler(self) -> None:
        """So it does behind a HAR."""
        older = self.test.route()
        self.replays(not_found="fallback")
        run = self.sends()[-1]
        assert isinstance(run, Send) and isinstance(run.message, outbound.HandlerRun)
        self.assertEqual(run.message.route_id, older)

    def test_recorded_failures(self) -> None:
        """What failed when it was recorded fails again, in the same way if that is known."""
        for text, code in (
            ("getaddrinfo ENOTFOUND api.example", "namenotresolved"),
            ("DNS lookup failed: no results", "namenotresolved"),
            ("connect ECONNREFUSED 192.0.2.1:443", "connectionrefused"),
            ("Connection was refused by other side: 111", "connectionrefused"),
            ("read ECONNRESET", "connectionreset"),
            ("Timeout 30000ms exceeded: timed out", "timedout"),
            ("something else", "failed"),
            (None, "failed"),
        ):
            for status in (-1, 0):
                with self.subTest(text):
                    self.setUp()
                    self.replays(entry(status=status, _failureText=text))
                    effects = self.sends()
                    decision = effects[-1]
                    assert isinstance(decision, Send)
                    sent = [
                        each.message
                        for each in effects
                        if isinstance(each, Send)
                        and isinstance(each.message, outbound.DecisionAbort)
                    ]
                    self.assertEqual([each.error_code for each in sent], [code])
                    self.assertEqual(self.told(effects).message, "the failure that was recorded")


class BadEntryTests(HarCase):
    """Entries that cannot be replayed."""

    def test_named(self) -> None:
        """The error has file, entry and field, in one line and without what is in the file."""
        cases: dict[str, Any] = {
            "response.status: ": entry(status=SECRET),
            "response.status: it is no": entry(status=200.5),
            "response.headers[0]: it has no name": entry(headers=[{"name": 1, "value": SECRET}]),
            "response.headers[1]: it has no name": entry(headers=[_line(("a", "b")), [SECRET]]),
            "response.headers: ": entry(headers=SECRET),
            "response.content: ": entry(content=[SECRET]),
            "response.content.text: it is not base64": entry(
                content={"text": SECRET + "*", "encoding": "base64"}
            ),
            "../x leads out": entry(content={"unreadable": "../x leads out"}),
        }
        for field, wrong in cases.items():
            with self.subTest(field):
                self.setUp()
                self.replays(entry(OTHER), None, wrong)
                effects = self.sends()
                (failed,) = [each for each in effects if isinstance(each, records.RequestFailed)]
                self.assertEqual(failed.code, "handler_failed")
                self.assertIn(f"some.har, entry 3 (GET {URL}): {field}", failed.message)
                self.assertIn('The route is "**" (shop_test.py:7) of the test', failed.message)
                self.assertNotIn(SECRET, failed.message)
                self.assertNotIn("\n", failed.message)
                error = effects[-1]
                assert isinstance(error, Send) and isinstance(error.message, outbound.ProxyError)
                self.assertEqual(
                    (error.message.test_id, error.message.message), ("buys", failed.message)
                )

    def test_depth(self) -> None:
        """An entry that is nested too deeply is as good as none."""
        route = inbound.RouteRegister("q", "buys", glob("**"))
        deep = json.dumps(entry() | {"x": 0}).replace(": 0}", ": " + "[" * 5000 + "]" * 5000 + "}")
        har = SerializedHar("some.har", [Raw(deep.encode())])
        self.worker.sends(structs.replace(route, har=har))
        self.playbook.take()
        self.assertEqual(self.answer(), "failed: some.har has no such request")
        with self.assertRaisesRegex(HarEntryError, "nested too deeply"):
            read_entry(Raw(deep.encode()))

    def test_secret_header(self) -> None:
        """A header that HTTP does not allow is named without its value."""
        self.replays(entry(headers=[{"name": "Set-Cookie", "value": f"a={SECRET}\nb=1"}]))
        said = self.answer()
        self.assertIn("the header 'set-cookie' has a line break, a NUL or a character above", said)
        self.assertNotIn(SECRET, said)

    def test_no_response(self) -> None:
        """A status that no response can have fails the request and its test."""
        self.replays(entry(status=101))
        self.assertIn("the status is 101", self.answer())

    def test_not_needed(self) -> None:
        """An entry that no request needs may have any form; of others, the body is not read."""
        coded = {"text": "x", "encoding": "base64"}
        self.replays(entry(OTHER, status="x"), {}, entry(text="good"), entry(content=coded))
        self.assertEqual(self.answer(), "good")


class RoomTests(HarCase):
    """``--reply-bytes``."""

    def test_no_room(self) -> None:
        """A HAR beyond the limit is refused, with what to do; the end of a route makes room."""
        size = len(json.dumps(entry()).encode())
        self.playbook.coordinator.state.settings = evolve(SETTINGS, reply_bytes=2 * size)
        (refused,) = self.replays(entry(), entry(), entry())
        assert isinstance(refused, Send) and isinstance(refused.message, outbound.ProxyError)
        self.assertEqual(refused.message.route_id, "q")
        self.assertIn(
            f"the HAR some.har takes {3 * size} bytes, and of the {2 * size} bytes that "
            "--reply-bytes allows for the replies of all routes 0 are in use",
            refused.message.message,
        )
        self.assertIn("limit a HAR by its url", refused.message.message)
        self.replays(entry(), entry())
        self.assertEqual(self.playbook.coordinator.state.registry.reply_bytes, 2 * size)
        self.worker.sends(inbound.RouteUnregister("q"))
        self.playbook.take()
        self.assertEqual(self.playbook.coordinator.state.registry.reply_bytes, 0)

    def test_for_websockets(self) -> None:
        """Only a route for HTTP requests has one."""
        register = inbound.RouteRegister(
            "q", "buys", glob("**"), "websocket", har=SerializedHar("h", [])
        )
        self.worker.sends(register)
        (sent,) = self.playbook.take()
        assert isinstance(sent, Send) and isinstance(sent.message, outbound.ProxyError)
        self.assertIn("only a route for HTTP", sent.message.message)

    def test_without_the_feature(self) -> None:
        """From a worker that runs its handlers by itself, a HAR is ignored."""
        other = self.playbook.worker("1", features=("warnings",))
        other.test("sells")
        har = SerializedHar("h", [Raw(json.dumps(entry(OTHER)).encode())])
        other.sends(inbound.RouteRegister("p", "sells", glob(OTHER), har=har))
        self.playbook.take()
        self.agent.sends(start("r1", OTHER))
        sent = self.playbook.take()[-1]
        assert isinstance(sent, Send)
        self.assertIsInstance(sent.message, outbound.RequestMatched)


class MemoryTests(HarCase):
    """A route keeps no more of its message than ``--reply-bytes`` counts."""

    def registers(self, **more: Any) -> None:
        """Register a route by a message with much that is ignored; none of it may be kept."""
        route = {"type": "route:register", "routeId": "q", "testId": "buys", "matcher": {}}
        payload = json.dumps(route | more | {"ignored": "x" * 1000}).encode()
        held = getrefcount(payload)
        message = decode(payload)
        assert isinstance(message, inbound.RouteRegister)
        self.worker.sends(message)
        self.playbook.take()
        del message
        self.assertEqual(getrefcount(payload), held)

    def test_har(self) -> None:
        """The entries that can be asked for are kept."""
        self.registers(har={"name": "some.har", "entries": [None, entry(text="kept"), {}]})
        self.assertEqual(self.answer(), "kept")

    def test_reply(self) -> None:
        """The body is kept."""
        self.registers(options={"status": 200, "body": "aGk="})
        self.assertEqual(self.answer(), "hi")
