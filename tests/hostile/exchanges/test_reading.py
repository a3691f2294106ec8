"""The judge of the cases must be stricter than the judged."""

from twisted.trial.unittest import SynchronousTestCase

from tests.hostile.exchanges.reading import UnreadableError, answers, requests

_HEAD = b"POST /x HTTP/1.1\r\nhost: a\r\n"


class RequestTests(SynchronousTestCase):
    """What reaches the server."""

    def test_two(self) -> None:
        """Requests are told apart, and what is not whole is left."""
        found, rest = requests(_HEAD + b"content-length: 2\r\n\r\nab" + _HEAD)
        self.assertEqual([one.body for one in found], [b"ab"])
        self.assertEqual(rest, _HEAD)

    def test_chunks(self) -> None:
        """A chunked body is read to its end."""
        found, rest = requests(_HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nX")
        self.assertEqual(([one.body for one in found], rest), ([b"a"], b"X"))

    def test_trailers(self) -> None:
        """Fields may follow a chunked body, but none that frames it."""
        chunked = b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
        found, rest = requests(_HEAD + chunked + b"x: y\r\n\r\nX")
        self.assertEqual(([one.body for one in found], rest), ([b"a"], b"X"))
        for line in (b"content-length: 1", b"x"):
            with self.assertRaises(UnreadableError):
                requests(_HEAD + chunked + line + b"\r\n\r\n")

    def test_strict(self) -> None:
        """Whatever has two meanings is a fault of the proxy."""
        for lines in (
            b"content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            b"content-length: 1\r\ncontent-length: 1\r\n\r\na",
            b"content-length: +1\r\n\r\na",
            b"transfer-encoding: x\r\n\r\n",
            b"x : y\r\n\r\n",
            b"x: a\nb: c\r\n\r\n",
            b" x: y\r\n\r\n",
            b"transfer-encoding: chunked\r\n\r\n1;x\r\na\r\n0\r\n\r\n",
        ):
            self.assertRaises(UnreadableError, requests, _HEAD + lines)


class AnswerTests(SynchronousTestCase):
    """What reaches the client."""

    def test_kinds(self) -> None:
        """HEAD has no body, an interim answer does not count, and a cut one is seen to be cut."""
        head = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n"
        interim = b"HTTP/1.1 100 Continue\r\n\r\n"
        found = answers(head + interim + head + b"abc" + head + b"a", iter(["HEAD"]))
        self.assertEqual([one.first[0] for one in found], ["200", "100", "200", "200"])
        self.assertEqual([one.body for one in found], [b"", b"", b"abc", b"a"])
        self.assertEqual([one.whole for one in found], [True, True, True, False])

    def test_no_answer(self) -> None:
        """What is no head is told."""
        self.assertRaises(UnreadableError, answers, b"HTTP/1.1 20", iter(()))
