"""The options of answers, as tests write them."""

import json
from pathlib import Path
from typing import Any

from msgspec import UNSET, Raw
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.core.answers.answer_reading import AnswerReader
from trafficmock.core.answers.languages import JAVASCRIPT, PYTHON, Language, WrongOptionError
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.answer import Abort, Fault, Fulfill, Written

WRONG = Path(__file__).parents[2] / "data" / "wrong_options.jsonl"
"""Wrong calls, with the options by their names in Python as they are sent, and the errors."""


def read(language: Language = JAVASCRIPT, /, **options: Any) -> list[Fulfill | Abort]:
    """Read the options of a mock."""
    written = {name: Raw(json.dumps(value).encode()) for name, value in options.items()}
    return AnswerReader(language).answers(written)


def fulfil(language: Language = JAVASCRIPT, /, **options: Any) -> Fulfill:
    """Read the options of a mock with one answer."""
    (answer,) = read(language, **options)
    assert isinstance(answer, Fulfill)
    return answer


class ReadingTests(SynchronousTestCase):
    """What options mean."""

    def test_plain(self) -> None:
        """Without options it is an empty 200; 0 is 200, as in Playwright."""
        for options in ({}, {"status": 0}, {"status": None}):
            found = fulfil(**options).response
            self.assertEqual((found.status, found.status_text, found.headers), (200, "OK", {}))
            self.assertEqual((found.url, found.body_base64), (UNSET, body.NULL))

    def test_bodies(self) -> None:
        """A body has a length; JSON and files have a type, unless another one is given."""
        file = {"content": "aGk=", "type": "text/x"}
        for options, kind in (
            ({"body": "aGk="}, None),
            ({"json": "aGk="}, "application/json"),
            ({"path": file}, "text/x"),
            ({"path": file, "json": "e30="}, "application/json"),
            ({"path": file, "contentType": "a/b", "headers": [["content-type", "c/d"]]}, "a/b"),
        ):
            found = fulfil(**options).response
            length = {"content-length": "2"}
            expected = length if kind is None else {"content-type": kind, **length}
            self.assertEqual((body.to_bytes(found.body_base64), found.headers), (b"hi", expected))
        found = fulfil(body="aGk=", headers=[["content-length", "99"]]).response
        self.assertEqual(found.headers, {"content-length": "99"})

    def test_headers(self) -> None:
        """Each line of a cookie is a header, and the framing is the agent's."""
        given = [["set-cookie", "a=1\nb=2"], ["transfer-encoding", "chunked"]]
        found = fulfil(headers=given).response
        self.assertEqual(found.headers_list, [("set-cookie", "a=1"), ("set-cookie", "b=2")])

    def test_trailers(self) -> None:
        """Trailers are pairs; no pairs are none."""
        found = fulfil(body="aGk=", trailers=[["x-sum", "7"]]).response
        self.assertEqual(found.trailers, [("x-sum", "7")])
        self.assertEqual(fulfil(trailers=[]).response.trailers, UNSET)

    def test_how(self) -> None:
        """Delays are rounded up; chunks are one body in pieces."""
        self.assertEqual(fulfil(delay=1.2).delay_ms, 2)
        self.assertEqual(fulfil(delay=0).delay_ms, UNSET)
        self.assertEqual(fulfil(fault="stall", after=3).fault, Fault("stall", 3))
        answer = fulfil(chunks=["YQ==", "", "YmM="], delay=5)
        self.assertEqual(body.to_bytes(answer.response.body_base64), b"abc")
        self.assertEqual((answer.pieces, answer.delay_ms), ([(0, 1), (5, 2)], UNSET))

    def test_sequence(self) -> None:
        """A delay beside the sequence is that of answers that have none."""
        answers = read(sequence=[503, {"abort": "blockedbyclient", "delay": 1}], delay=7)
        self.assertEqual([each.delay_ms for each in answers], [7, 1])
        self.assertEqual(answers[1], Abort("failed", delay_ms=1))

    def test_names(self) -> None:
        """Options have the names of the language, and None is no value in Python."""
        self.assertEqual(fulfil(PYTHON, status_text="So").response.status_text, "So")
        self.assertEqual(fulfil(statusText="So").response.status_text, "So")
        self.assertEqual(fulfil(PYTHON, fault=None, rate=None, body=None), fulfil())
        with self.assertRaisesRegex(WrongOptionError, "fault: null is unknown"):
            read(fault=None)

    def test_surrogates(self) -> None:
        """A text may have a lone surrogate, and is refused."""
        for text in ("\ud800", "\u0100"):
            with self.assertRaisesRegex(WrongOptionError, "statusText must be text"):
                read(statusText=text)

    def test_unreadable(self) -> None:
        """What no worker of ours sends is refused like what a test writes."""
        for name, value in (("body", 7), ("body", "a\nGk="), ("headers", 7), ("chunks", {})):
            with self.assertRaises(WrongOptionError):
                read(**{name: value})


class WrongOptionTests(SynchronousTestCase):
    """What tests are told of options that are wrong."""

    def test_texts(self) -> None:
        """The error says what is wrong, in the spelling of the language."""
        lines = [json.loads(line) for line in WRONG.read_text(encoding="utf-8").splitlines()]
        self.assertGreater(len(lines), 40)
        for line in lines:
            for name, language in (("python", PYTHON), ("javascript", JAVASCRIPT)):
                with self.subTest(line["options"], language=name):
                    written = {
                        key: Raw(json.dumps(value).encode())
                        for key, value in spelled(line["options"], language).items()
                    }
                    with self.assertRaises(WrongOptionError) as caught:
                        self.read(AnswerReader(language), line["call"], written)
                    self.assertEqual(str(caught.exception), line[name])

    @staticmethod
    def read(reader: AnswerReader, call: Any, written: dict[str, Raw]) -> None:
        if call == "mock":
            reader.answers(written)
        elif call == "stream":
            reader.check_head(written)
        else:
            reader.decision(Written(call, written))


def spelled(options: dict[str, Any], language: Language) -> dict[str, Any]:
    """Give options, and those of a sequence, the names of a language."""
    renamed = {language.spell(name): value for name, value in options.items()}
    if isinstance(steps := renamed.get("sequence"), list):
        renamed["sequence"] = [
            spelled(each, language) if isinstance(each, dict) else each for each in steps
        ]
    return renamed
