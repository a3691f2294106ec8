"""The samples of messages in ``tests/data/wire``: what is read, what is refused and how."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.wire.client_message import ClientMessage
from trafficmock.wire.codec import InvalidMessageError, decode, encode

SAMPLES = Path(__file__).parents[1] / "data" / "wire"


def samples(name: str) -> Iterator[dict[str, Any]]:
    for line in (SAMPLES / name).read_text("utf-8").splitlines():
        yield json.loads(line)


def compact(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


class GoodSampleTests(SynchronousTestCase):
    """Messages that clients send."""

    def test_read_and_written_again(self) -> None:
        """A valid message comes out as it went in, without keys that protocol 3 has not."""
        for sample in samples("good.jsonl"):
            again = json.loads(encode(decode(compact(sample["message"]))))
            self.assertEqual(again, sample.get("becomes", sample["message"]), sample["why"])

    def test_twice_the_same(self) -> None:
        """Reading what was written gives an equal message."""
        for sample in samples("good.jsonl"):
            message = decode(compact(sample["message"]))
            self.assertEqual(decode(encode(message)), message, sample["why"])

    def test_every_type(self) -> None:
        """There are good and bad samples of every message that clients may send."""
        types = {each.__struct_config__.tag for each in get_args(ClientMessage)}
        self.assertEqual({s["message"]["type"] for s in samples("good.jsonl")}, types)
        self.assertEqual(types - {s.get("type") for s in samples("bad.jsonl")}, set())


class OddSampleTests(SynchronousTestCase):
    """JSON that is legal but unusual means what it means in JavaScript."""

    def test_read(self) -> None:
        """Odd numbers, escapes, blanks and repeated keys are read as JavaScript reads them."""
        for sample in samples("odd.jsonl"):
            written = encode(decode(sample["text"].encode()))
            self.assertEqual(json.loads(written), sample["becomes"], sample["why"])
            self.assertEqual(encode(decode(written)), written, sample["why"])

    def test_surrogates_leave_as_escapes(self) -> None:
        """What is sent is valid UTF-8 whatever strings a message has."""
        for sample in samples("odd.jsonl"):
            encode(decode(sample["text"].encode())).decode("utf-8", "strict")


class BadSampleTests(SynchronousTestCase):
    """What is not a valid message is refused with a text that names the place."""

    def test_refused(self) -> None:
        """The error names the fault, the type and the ids that can be told."""
        for sample in samples("bad.jsonl"):
            text = sample["text"]
            error = self.assertRaises(InvalidMessageError, decode, text.encode())
            self.assertIn(sample["error"], str(error), text)
            self.assertEqual(error.type, sample.get("type", ""), text)
            self.assertEqual(error.ids, sample.get("ids", {}), text)
            self.assertEqual(error.code, "invalid_message")
