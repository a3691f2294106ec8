"""Encoding and decoding of messages, and what can be told of an invalid one."""

import json
from typing import Any, cast, get_args

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, Struct
from twisted.trial.unittest import SynchronousTestCase

from tests.support.hypothesis_profiles import profile
from tests.wire.test_samples import compact, samples
from trafficmock.wire import outbound
from trafficmock.wire.client_message import ClientMessage
from trafficmock.wire.codec import InvalidMessageError, decode, encode, to_plain
from trafficmock.wire.inbound import Message, MessageFromPage, Ping
from trafficmock.wire.invalid_message import too_long
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_response import SerializedResponse

GOOD = [sample["message"] for sample in samples("good.jsonl")]
TEXT = st.text(alphabet=st.characters())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)


def paths(document: Any, here: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """List where in a document there is something to change."""
    found = [here] if here else []
    if isinstance(document, dict):
        for key, item in document.items():
            found += paths(item, (*here, key))
    elif isinstance(document, list):
        for index, item in enumerate(document):
            found += paths(item, (*here, index))
    return found


def changed(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Copy a document with one place changed."""
    if not path:
        return value
    copy: Any = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = changed(document[path[0]], path[1:], value)
    return copy


def loosely(text: bytes | str) -> Any:
    """Read JSON without regard to what is an integer."""
    return json.loads(text, parse_int=float)


def is_part_of(part: Any, whole: Any) -> bool:
    """Tell whether ``part`` is ``whole`` with nothing but keys of objects missing."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and is_part_of(item, whole[key]) for key, item in part.items()
        )
    if isinstance(part, list):
        return (
            isinstance(whole, list)
            and len(part) == len(whole)
            and all(map(is_part_of, part, whole))
        )
    return type(part) is type(whole) and part == whole


class ArbitraryInputTests(SynchronousTestCase):
    """Whatever comes, it is a message or an :class:`InvalidMessageError`."""

    def read(self, payload: bytes, *, compare: bool = True) -> None:
        try:
            message = decode(payload)
        except InvalidMessageError as error:
            self.assertEqual(error.code, "invalid_message")
            return
        written = encode(message)
        self.assertEqual(encode(decode(written)), written)
        if compare and b"bodyBase64" not in payload:
            # What nobody reads is not looked at, not even whether it is UTF-8.
            whole = loosely(payload.decode(errors="replace"))
            self.assertTrue(is_part_of(loosely(written), whole), (written, payload))

    @profile(150)
    @given(st.binary())
    def test_bytes(self, payload: bytes) -> None:
        """Arbitrary bytes never raise anything else."""
        self.read(payload)

    @profile(150)
    @given(JSON)
    def test_json(self, document: Any) -> None:
        """Arbitrary JSON never raises anything else."""
        self.read(json.dumps(document).encode())

    @profile(400)
    @given(st.data())
    def test_mutated_messages(self, data: st.DataObject) -> None:
        """A valid message with one place changed is read as it is meant, or refused."""
        message = data.draw(st.sampled_from(GOOD))
        path = data.draw(st.sampled_from(paths(message)))
        document = changed(message, path, data.draw(JSON))
        self.read(json.dumps(document).encode())

    @profile(150)
    @given(st.sampled_from(GOOD), st.integers(0, 400), st.integers(0, 30), st.binary(max_size=4))
    def test_damaged_bytes(self, message: Any, at: int, length: int, instead: bytes) -> None:
        """A valid message with some bytes replaced never raises anything else."""
        payload = compact(message)
        self.read(payload[:at] + instead + payload[at + length :])

    def test_deep_nesting(self) -> None:
        """Nesting beyond what the readers bear is refused, wherever it stands."""
        for depth in (900, 5_000, 200_000):
            deep = b"[" * depth + b"]" * depth
            for text in (deep, b'{"type":"ping","at":1,"x":' + deep + b"}"):
                self.read(text, compare=False)
            detail = b'{"type":"agent:error","message":"\\ud800","detail":' + deep + b"}"
            self.read(detail, compare=False)

    def test_short_complaints(self) -> None:
        """However much is wrong, the complaint is short."""
        for message in ({"type": "t" * 5_000_000}, {"type": "hello", "role": "r" * 5_000_000}):
            payload = json.dumps(message).encode()
            error = self.assertRaises(InvalidMessageError, decode, payload)
            self.assertLess(len(str(error)), 1000)

    def test_far_too_much(self) -> None:
        """Megabytes of small parts are refused without a second look, for whom it concerns."""
        for junk in (b"[],{},", b"1,", b'{"a":0},'):
            payload = b'{"type":"fetch:result","requestId":"r","fetchId":"f","ok":3.0,"x":[%s0]}'
            error = self.assertRaises(InvalidMessageError, decode, payload % (junk * 300_000))
            self.assertEqual(error.type, "fetch:result")
            self.assertEqual(error.ids, {"requestId": "r", "fetchId": "f"})
            self.assertIn("Expected `bool`", str(error))

    def test_large_texts_get_their_second_chance(self) -> None:
        """How long a text is does not matter, only of how many parts a message is."""
        text = "\ud800" + "x" * 5_000_000
        message = {"type": "agent:error", "message": text}
        self.assertEqual(cast("Any", decode(json.dumps(message).encode())).message, text)

    def test_huge_numbers(self) -> None:
        """A number of any length is refused where it counts, and names its message."""
        text = b'{"type":"handler:result","requestId":"r","result":{"action":"fetch","fetchId":"f",'
        for digits in (400, 5_000, 100_000):
            payload = text + b'"maxRetries":' + b"9" * digits + b"}}"
            error = self.assertRaises(InvalidMessageError, decode, payload)
            self.assertEqual((error.type, error.ids), ("handler:result", {"requestId": "r"}))
            self.read(b'{"type":"ping","at":' + b"9" * digits + b"}")

    def test_invalid_utf8(self) -> None:
        """Bytes that are not UTF-8 are refused, also inside a body or what nobody reads."""
        for payload in (
            b'{"type":"ws:connect","socketId":"s","x":"\xff"}',
            b'{"type":"ws:connect","socketId":"s","\xff":1}',
            b'{"type":"agent:error","message":"m","detail":"\xff"}',
            b'{"type":"ws:connect","socketId":"\xff"}',
            b'{"type":"ws:connect","socketId":"\xed\xa0\x80"}',
            compact(GOOD[8]).replace(b"aGk=", b"aG\xffk="),
        ):
            self.assertRaises(InvalidMessageError, decode, payload)


class SurrogateTests(SynchronousTestCase):
    """JavaScript's strings may have halves of characters; they are kept."""

    @profile(100)
    @given(st.text(alphabet=st.characters(categories=["Cs", "L"]), min_size=1))
    def test_kept(self, text: str) -> None:
        """Strings with lone surrogates survive the way in and the way out."""
        frame = {"type": "ws:messageFromPage", "socketId": "s", "data": text, "isBase64": False}
        message = decode(json.dumps(frame).encode())
        again = json.loads(encode(message))
        joined = json.loads(json.dumps(text))
        self.assertEqual(cast("MessageFromPage", message).data, joined)
        self.assertEqual(again["data"], joined)

    def test_everything_else_is_written_too(self) -> None:
        """A message with a surrogate keeps its body, its absent keys and its lists."""
        response = SerializedResponse(
            200, "\ud800", {"a": "b"}, Raw(b'"aGk="'), headers_list=[("a", "b")]
        )
        message = outbound.FetchDone("r", "f", ok=True, response=response)
        expected = {
            "type": "fetch:done",
            "requestId": "r",
            "fetchId": "f",
            "ok": True,
            "response": {
                "status": 200,
                "statusText": "\ud800",
                "headers": {"a": "b"},
                "bodyBase64": "aGk=",
                "headersList": [["a", "b"]],
            },
        }
        self.assertEqual(json.loads(encode(message)), expected)

    def test_absent_override_stays_absent(self) -> None:
        """An override of the body that is not there is not written as ``null``."""
        text = '{"type":"handler:result","requestId":"\\ud800","result":%s}'
        text %= '{"action":"continue","overrides":{"url":"u"}}'
        self.assertEqual(json.loads(encode(decode(text.encode()))), json.loads(text))


class OutboundTests(SynchronousTestCase):
    """What the coordinator writes."""

    def test_plain_is_what_is_written(self) -> None:
        """The slow way of writing gives the same message as the fast one."""
        for document in GOOD:
            message = decode(compact(document))
            self.assertEqual(decode(compact(to_plain(message))), message)

    def test_classes_of_its_own(self) -> None:
        """Texts and numbers that a test gives may be of classes of its own."""
        text, number = type("Text", (str,), {}), type("Number", (int,), {})
        made = SerializedResponse(number(200), text("OK"), {text("a"): text("b")}, Raw(b"null"))
        plain = SerializedResponse(200, "OK", {"a": "b"}, Raw(b"null"))
        done, meant = (outbound.FetchDone("r", "f", ok=True, response=r) for r in (made, plain))
        self.assertEqual(encode(done), encode(meant))
        self.assertRaises(TypeError, encode, outbound.ProxyError("c", cast("str", object())))

    def test_optional_keys_are_left_out(self) -> None:
        """Protocol 3 forbids ``null`` for an optional key: it is omitted."""
        for message in (
            outbound.DecisionContinue("r"),
            outbound.DecisionAbort("r", "failed"),
            outbound.DecisionFetch("r", "f"),
            outbound.DecisionError("r", "internal", "m"),
            outbound.ProxyError("c", "m"),
            outbound.RouteUnregistered(),
            outbound.FetchDone("r", "f", ok=False),
            outbound.HelloOk("c", 3, "1", "x"),
        ):
            self.assertNotIn(b"null", encode(message))

    def test_bodies_pass_unread(self) -> None:
        """A body leaves byte for byte as it came, junk included."""
        payload = compact(GOOD[8]).replace(b"aGk=", b"a G~k=")
        self.assertIn(b'"a G~k="', encode(decode(payload)))
        self.assertEqual(body.to_bytes(Raw(b'"a G~k="')), b"hi")

    def test_every_message_has_its_type(self) -> None:
        """Each class of message stands for one ``type``, also among both directions."""

        def leaves(parent: type[Struct]) -> list[type[Struct]]:
            children = parent.__subclasses__()
            return [leaf for child in children for leaf in leaves(child)] or [parent]

        tags = [each.__struct_config__.tag for each in leaves(Message)]
        self.assertEqual(len(tags), len(set(tags)))
        self.assertIn(Ping, get_args(ClientMessage))


class TooLongTests(SynchronousTestCase):
    """The error of a message that was not read."""

    def test_ids(self) -> None:
        """Type and ids are found although the rest is missing."""
        message = {"type": "fetch:result", "requestId": 'r"1', "fetchId": "f", "ok": True}
        error = too_long(json.dumps(message).encode()[:-5], 100)
        self.assertEqual(error.type, "fetch:result")
        self.assertEqual(error.ids, {"requestId": 'r"1', "fetchId": "f"})
        self.assertIn("more than 100 bytes; --max-frame-bytes", str(error))

    def test_first_counts(self) -> None:
        """What stands deeper in the message, or in a text, is not taken for its own."""
        inner = json.dumps({"requestId": "text"})
        message = {"requestId": "own", "request": {"requestId": "deeper", "url": inner}}
        self.assertEqual(too_long(json.dumps(message).encode(), 1).ids, {"requestId": "own"})
        self.assertEqual(too_long(json.dumps({"url": inner}).encode(), 1).ids, {})

    def test_unknown(self) -> None:
        """Where nothing can be told, nothing is."""
        error = too_long(b'{"request":{"url":"' + b"x" * 100, 1)
        self.assertEqual((error.type, error.ids), ("", {}))

    @given(st.binary())
    def test_anything(self, head: bytes) -> None:
        """No head is too strange."""
        self.assertEqual(too_long(head + b'"type":"\xff"', 1).code, "invalid_message")
