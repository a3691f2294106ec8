"""Mocks that no HTTP response can carry: mended where their meaning is clear, else refused."""

from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET, Raw, structs
from twisted.trial.unittest import SynchronousTestCase

from tests.support.builders import continue_, fulfill, response, start, text
from tests.support.hypothesis_profiles import profile
from tests.support.playbook import Playbook
from trafficmock.core.answers import response_rules
from trafficmock.core.effects import Send
from trafficmock.records import Owner, RequestContinued, RequestFailed, RequestFulfilled
from trafficmock.wire import outbound
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import SerializedResponse

OWNER = Owner("buys", "buys#1", "buys", "buys.spec.ts")
MOST = 10_000
"""What goes for 100 MiB here."""
TOO_MUCH = Raw(b'"' + b"A" * MOST + b'"')

# What ends the process of an application that uses the npm agent.
UNSENDABLE = {
    "no status": response(0),
    "informational": response(100),
    "switching protocols": response(101),
    "just below": response(199),
    "nameless header": response(200, b"", **{"": "x"}),
    "blank in a name": response(200, b"", **{"a b": "x"}),
    "line break in a name": response(200, b"", **{"a\n": "x"}),
    "umlaut in a name": response(200, b"", ä="x"),
    "colon in a name": response(200, b"", **{"a:": "x"}),
    "line break": response(200, b"", a="x\ny"),
    "carriage return": response(200, b"", a="x\ry"),
    "NUL": response(200, b"", a="x\0y"),
    "beyond latin-1": response(200, b"", a="€"),
    "half a character": response(200, b"", a="\ud800"),
    "name that is of ASCII in lower case": structs.replace(response(), headers={"\u212a": "x"}),
    "cookies with CRLF": response(200, b"", **{"set-cookie": "a=1\r\nb=2"}),
    "cookie beyond latin-1": response(200, b"", **{"set-cookie": "a=€\nb=2"}),
    "line break in a listed header": structs.replace(response(), headers_list=[("a", "x\n")]),
    "nameless listed header": structs.replace(response(), headers_list=[("", "x")]),
    "status text with a line break": structs.replace(response(), status_text="a\nb"),
    "status text beyond latin-1": structs.replace(response(), status_text="€"),
    "status text with DEL": structs.replace(response(), status_text="\x7f"),
    "a body of 100 MiB": structs.replace(response(), body_base64=TOO_MUCH),
    "headers of 100 MiB": response(200, b"", a="x" * (MOST // 6 + 1)),
}
SENDABLE = {
    "lowest": response(200, b"x"),
    "highest": response(999),
    "every letter of names": response(200, b"", **{"!#$%&'*+-.^_`|~09azAZ": "x"}),
    "tabs, blanks, high bytes": response(200, b"", a="\t \x01\x7f\x80\xff "),
    "empty value": response(200, b"", a=""),
    "status text": structs.replace(response(), status_text="\tIch möchte"),
    "redirect without a place": response(302),
    "body of a redirect": response(307, b"x"),
    "204 without a body": response(204),
}


def refused(answer: SerializedResponse) -> bool:
    try:
        response_rules.sendable_response(answer)
    except response_rules.UnsendableMockError:
        return True
    return False


class SendableTests(SynchronousTestCase):
    """:func:`trafficmock.core.answers.response_rules.sendable_response`."""

    def setUp(self) -> None:
        self.patch(response_rules, "MOST_BYTES", MOST)

    def test_refused(self) -> None:
        """What the Fetch standard's ``SerializedResponse`` would refuse is refused."""
        for name, answer in UNSENDABLE.items():
            self.assertTrue(refused(answer), name)

    def test_untouched(self) -> None:
        """What can be sent is sent as it is."""
        for name, answer in SENDABLE.items():
            self.assertIs(response_rules.sendable_response(answer), answer, name)

    def test_no_body(self) -> None:
        """A status that has no body loses it."""
        lengths = {204: None, 205: "0", 304: "1"}
        for status, length in lengths.items():
            mended = response_rules.sendable_response(
                response(status, b"x", **{"content-length": "1"})
            )
            wanted = {} if length is None else {"content-length": length}
            self.assertEqual(mended, response(status, b"", **wanted))

    def test_length(self) -> None:
        """A content-length becomes that of the body, in the map and in the list."""
        for wrong in ("3", "50", "-1", "abc"):
            answer = response(200, b"hello", **{"Content-Length": wrong})
            pairs = [("Content-Length", wrong), ("a", "b")]
            mended = response_rules.sendable_response(structs.replace(answer, headers_list=pairs))
            self.assertEqual(mended.headers, {"Content-Length": "5"})
            self.assertEqual(mended.headers_list, [("Content-Length", "5"), ("a", "b")])

    def test_coding(self) -> None:
        """A coding that the body does not have is left out, in the map and in the list."""
        for coding in ("br", "zstd", "unknown", "gzip, br", "gzip"):
            answer = response(200, b"hello", **{"Content-Encoding": coding, "a": "b"})
            mended = response_rules.sendable_response(answer)
            self.assertEqual(mended.headers, {"a": "b"})
            pairs = [("a", "b"), ("content-encoding", coding)]
            listed = structs.replace(answer, headers_list=pairs)
            self.assertEqual(response_rules.sendable_response(listed).headers_list, [("a", "b")])
        empty = response(200, b"", **{"content-encoding": "br"})
        self.assertIs(response_rules.sendable_response(empty), empty)

    def test_given_length(self) -> None:
        """The npm agent, which has no features, gets the length that the handler wrote."""
        given = response(200, b"hello", **{"Content-Length": "2"})
        listed = structs.replace(given, headers_list=[("Content-Length", "2")])
        for answer in (given, listed):
            mended = response_rules.sendable_response(answer)
            written = response_rules.with_given_length(mended, answer, frozenset())
            self.assertEqual(written, answer)
            ours = response_rules.with_given_length(mended, answer, frozenset({"stream"}))
            self.assertIs(ours, mended)
        for wrong in ("-1", "abc", ""):
            answer = response(200, b"hello", **{"content-length": wrong})
            mended = response_rules.sendable_response(answer)
            written = response_rules.with_given_length(mended, answer, frozenset())
            self.assertIs(written, mended, wrong)

    def test_trailer(self) -> None:
        """What announces trailers is left out: agents write it."""
        mended = response_rules.sendable_response(response(200, b"x", a="b", Trailer="x"))
        self.assertEqual(mended, response(200, b"x", a="b"))

    def test_trailers(self) -> None:
        """Trailers follow a body in chunks, which has no length."""
        given = response(200, b"x", a="b", **{"content-length": "1"})
        given = structs.replace(given, trailers=[("X-Sum", "7")])
        mended = response_rules.sendable_response(given)
        self.assertEqual((mended.headers, mended.trailers), ({"a": "b"}, [("X-Sum", "7")]))
        for name, value, fault in (
            ("a b", "1", "not a header name"),
            ("a", "1\r\nb: 2", "line break"),
        ):
            wrong = structs.replace(given, trailers=[(name, value)])
            with self.assertRaisesRegex(response_rules.UnsendableMockError, fault):
                response_rules.sendable_response(wrong)

    def test_trailers_of_servers(self) -> None:
        """What a server sent where it cannot stand is left out."""
        given = structs.replace(response(200, b"x"), trailers=[("X-Sum", "7"), ("Host", "a")])
        mended = response_rules.sendable_response(given)
        self.assertEqual(mended.trailers, [("X-Sum", "7")])
        given = structs.replace(response(200, b"x"), trailers=[("Transfer-Encoding", "x")])
        mended = response_rules.sendable_response(given)
        self.assertEqual((mended.trailers, mended.headers), (UNSET, given.headers))

    def test_no_trailers(self) -> None:
        """They are removed where the application cannot get them, and it is said why."""
        features = frozenset({"stream"})
        for status, method, known, why in (
            (200, "GET", features, ""),
            (200, "HEAD", features, "HEAD"),
            (304, "GET", features, "304"),
            (200, "GET", frozenset[str](), "npm agent"),
        ):
            given = structs.replace(response(status, b""), trailers=[("X-Sum", "7")])
            fitting, said = response_rules.with_trailers(given, method, known)
            self.assertEqual((bool(fitting.trailers), why in said), (not why, True))

    def test_length_without_a_body(self) -> None:
        """It stays in an answer to HEAD and in a 304; other clients would wait for the body."""
        listed = structs.replace(
            response(200, b"", **{"content-length": "5"}),
            headers_list=[("content-length", "5"), ("a", "b")],
        )
        mended = response_rules.for_method(listed, "GET")
        self.assertEqual((mended.headers, mended.headers_list), ({}, [("a", "b")]))
        told = response(304, b"", **{"content-length": "5"})
        for answer, method in ((listed, "HEAD"), (told, "GET"), (response(200, b"x"), "GET")):
            self.assertIs(response_rules.for_method(answer, method), answer)

    def test_cookies(self) -> None:
        """Cookies in lines are joined in the map and stay apart in the list."""
        mended = response_rules.sendable_response(
            response(200, b"", **{"a": "b", "Set-Cookie": "x=1\ny=2"})
        )
        self.assertEqual(mended.headers, {"a": "b", "Set-Cookie": "x=1, y=2"})
        pairs = [("a", "b"), ("Set-Cookie", "x=1"), ("Set-Cookie", "y=2")]
        self.assertEqual(mended.headers_list, pairs)

    def test_a_list_that_is_there_stays(self) -> None:
        """The list of headers wins over cookies in the map."""
        pairs = [("Set-Cookie", "z=3")]
        answer = response(200, b"", **{"set-cookie": "x=1\ny=2"})
        mended = response_rules.sendable_response(structs.replace(answer, headers_list=pairs))
        self.assertEqual(mended.headers_list, pairs)

    def test_phrases(self) -> None:
        """An empty status text becomes the status's own; any other stays."""
        for status, phrase in ((200, "OK"), (404, "Not Found"), (422, "Unprocessable Entity")):
            empty = structs.replace(response(status), status_text="")
            self.assertEqual(response_rules.sendable_response(empty), response(status))
            self.assertEqual(response(status).status_text, phrase)
        unlisted = response(299)
        self.assertIs(response_rules.sendable_response(unlisted), unlisted)
        self.assertEqual(unlisted.status_text, "")

    def test_agents(self) -> None:
        """The npm agent makes a ``Response``, which has no status above 599; others send any."""
        for status, features in ((599, ()), (600, ("headers-list",)), (999, ("stream",))):
            response_rules.check_status(response(status), frozenset(features))
        with self.assertRaisesRegex(response_rules.UnsendableMockError, "the status is 600"):
            response_rules.check_status(response(600), frozenset())

    @profile(100)
    @given(
        st.integers(0, 999),
        st.text(max_size=3),
        st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2),
        st.none() | st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), max_size=2),
    )
    def test_anything(
        self,
        status: int,
        status_text: str,
        headers: dict[str, str],
        pairs: list[tuple[str, str]] | None,
    ) -> None:
        """What comes out can be sent in either form of headers, and is not mended again."""
        listed = UNSET if pairs is None else pairs
        answer = SerializedResponse(status, status_text, headers, body.NULL, headers_list=listed)
        if refused(answer):
            return
        mended = response_rules.sendable_response(answer)
        self.assertIs(response_rules.sendable_response(mended), mended)
        plain = response_rules.response_for(mended, frozenset())
        self.assertIs(plain.headers_list, UNSET)
        self.assertIs(response_rules.sendable_response(plain), plain)


class HandlerTests(SynchronousTestCase):
    """The same, as handlers and applications see it."""

    def setUp(self) -> None:
        self.patch(response_rules, "MOST_BYTES", MOST)
        self.playbook = Playbook(self)
        self.agent, self.worker = self.playbook.agent(), self.playbook.worker()
        self.worker.test().route("**")
        self.agent.sends(start())
        self.playbook.take()

    def failed(self, message: str) -> None:
        """Check that both sides learn of it, and that the record does."""
        record, decision, _, complaint = self.playbook.take()
        self.assertEqual(
            record,
            self.playbook.with_route(RequestFailed("r1", OWNER, "handler_failed", message, None)),
        )
        error = outbound.DecisionError("r1", "handler_failed", message)
        self.assertEqual(decision, self.agent.gets(error))
        told = outbound.ProxyError("handler_failed", message, "buys")
        self.assertEqual(complaint, self.worker.gets(told))

    def test_refused(self) -> None:
        """A mock that cannot be sent fails the call and the test, not the application."""
        for answer in UNSENDABLE.values():
            self.worker.sends(fulfill("r1", answer))
            self.failed(text("GET http://h.test/a", "cannot be sent"))
            self.agent.sends(start())
            self.playbook.take()

    def test_mended(self) -> None:
        """A mended mock is what is sent, recorded and passed on."""
        self.worker.sends(fulfill("r1", response(204, b"x")))
        record, decision, news = self.playbook.take()
        self.assertEqual(
            record, self.playbook.with_route(RequestFulfilled("r1", OWNER, response(204)))
        )
        self.assertEqual(decision, self.agent.gets(outbound.DecisionFulfill("r1", response(204))))
        assert isinstance(news, Send)
        self.assertIn("status=204", repr(news))

    def test_overrides_of_100_mib(self) -> None:
        """Overrides that no client takes fail the call and the test."""
        for overrides in (
            SerializedOverrides(body_base64=TOO_MUCH),
            SerializedOverrides(url="x" * MOST),
            SerializedOverrides(headers={"a": "x" * MOST}),
        ):
            self.worker.sends(continue_("r1", overrides))
            self.failed(text("changes to GET http://h.test/a", "100 MiB"))
            self.agent.sends(start())
            self.playbook.take()

    def test_large_but_not_too_large(self) -> None:
        """What fits is sent on."""
        overrides = SerializedOverrides(body_base64=Raw(b'"' + b"A" * (MOST - 2000) + b'"'))
        self.worker.sends(continue_("r1", overrides))
        record, _ = self.playbook.take()
        self.assertEqual(record, self.playbook.with_route(RequestContinued("r1", OWNER, overrides)))


class HeaderTests(SynchronousTestCase):
    """Headers that need no mending."""

    @given(
        st.dictionaries(
            st.sampled_from(["Content-Length", "content-length", "trailer", "set-cookie", "a\nb"])
            | st.text("aZ-\n :é", max_size=3),
            st.sampled_from(["0", "2"]) | st.text("a \n\r\0é€", max_size=3),
            max_size=4,
        ),
        st.sampled_from([200, 204, 205, 304]),
        st.sampled_from([b"", b"ok"]),
    )
    @example({"content-length": ""}, 204, b"")
    def test_together(self, headers: dict[str, str], status: int, content: bytes) -> None:
        """All headers looked at together are judged as each by itself."""
        mock = structs.replace(response(status, content), headers=headers)
        with patch.object(response_rules, "_needs_no_change", lambda *_: False):
            one_by_one = _mended(mock)
        self.assertEqual(_mended(mock), one_by_one)


def _mended(mock: SerializedResponse) -> SerializedResponse | str:
    try:
        return response_rules.sendable_response(mock)
    except response_rules.UnsendableMockError as error:
        return str(error)
