"""A case: bytes that are sent, what must be answered, and what the upstream may see of them."""

from collections.abc import Mapping

from attrs import field, frozen

from tests.hostile.clients.frames import text
from tests.hostile.clients.raw import HANDSHAKE

UPSTREAM, OWN, DEAD = b"{U}", b"{OWN}", b"{DEAD}"
"""Stand for authorities in what is sent: the upstream, the proxy itself, a closed port."""

_NOTHING: dict[str, str | None] = {}


@frozen
class Arrives:
    """
    A request as the upstream must see it.

    :param target: the request target, in origin form.
    :param headers: values by lower-case name; repeats joined with ``|``; ``None`` says
        that there is no such field.
    :param body: without its framing.
    """

    target: str = "/c"
    method: str = "GET"
    headers: Mapping[str, str | None] = field(factory=dict)
    body: bytes = b""


@frozen
class Case:
    """
    One case.

    :param name: says what is odd about it.
    :param sent: what the client sends, all at once.
    :param answers: the statuses that it gets, interim ones left out; empty when the
        connection ends without a word.
    :param code: the ``error`` in the body of the last answer, where that is ours.
    :param arrives: whole requests that the upstream sees.
    :param kept: whether the connection serves another request afterwards; otherwise
        the proxy closes it.
    :param half_close: whether the client closes its direction behind what it sends.
    :param cut: whether the last answer ends before its end, so that no client takes it for whole.
    :param again: whether the proxy may ask a second time, since the upstream may have closed
        a kept connection just before it saw the first request.
    :param rule: where it is written.
    :param reply: what the upstream answers, byte for byte; by default something proper.
    :param reply_ends: whether the upstream closes behind that.
    :param got: the body of the last answer.
    :param got_headers: its headers, as those of :class:`Arrives`.
    :param said: after the answer 101, the messages of the service by type, with the code behind
        it where there is one; heartbeats are left out. Then the client closes its direction.
    :param closes: the code of the close frame that must come behind them.
    """

    name: str
    sent: bytes
    answers: tuple[int, ...] = (200,)
    code: str | None = None
    arrives: tuple[Arrives, ...] = ()
    kept: bool = True
    half_close: bool = False
    cut: bool = False
    again: bool = False
    rule: str = ""
    reply: bytes | None = None
    reply_ends: bool = False
    got: bytes | None = None
    got_headers: Mapping[str, str | None] = _NOTHING
    said: tuple[str, ...] = ()
    closes: int | None = None

    @property
    def expectation(self) -> str:
        """Say in words what must come of it."""
        answers = ", ".join(str(status) for status in self.answers) or "silence"
        code = f" {self.code}" if self.code else ""
        seen = "; ".join(f"forwarded as {a.method} {_short(a.target)}" for a in self.arrives)
        if self.answers == (101,):
            code = "".join(f", {said}" for said in self.said)
            code += f", close {self.closes}" if self.closes else ""
        end = "kept" if self.kept else "cut" if self.cut else "closed"
        return f"{answers}{code}; {seen or 'not forwarded'}; {end}"


def _short(text: str) -> str:
    return text if len(text) < 40 else f"{text[:20]}… ({len(text)} bytes)"


def refused(
    name: str,
    sent: bytes,
    rule: str = "",
    *,
    status: int = 400,
    code: str = "bad_request",
    half_close: bool = False,
) -> Case:
    """Make a case that gets one error and nothing more."""
    return Case(name, sent, (status,), code, kept=False, half_close=half_close, rule=rule)


def passed(
    name: str,
    sent: bytes,
    rule: str = "",
    *,
    target: str = "/c",
    method: str = "GET",
    headers: Mapping[str, str | None] = _NOTHING,
    body: bytes = b"",
    kept: bool = True,
) -> Case:
    """Make a case that is forwarded and answered."""
    arrives = Arrives(target, method, headers, body)
    return Case(name, sent, arrives=(arrives,), kept=kept, rule=rule)


def get(*lines: bytes, line: bytes = b"GET http://{U}/c HTTP/1.1", host: bool = True) -> bytes:
    """Write a request without a body, with more header lines."""
    first = [line, b"Host: {U}"] if host else [line]
    return b"".join(one + b"\r\n" for one in [*first, *lines]) + b"\r\n"


def post(*lines: bytes, body: bytes = b"") -> bytes:
    """Write a POST with these header lines and body."""
    return get(*lines, line=b"POST http://{U}/c HTTP/1.1") + body


def framed(
    name: str, sent: bytes, rule: str = "", *, said: tuple[str, ...] = (), closes: int | None = None
) -> Case:
    """Make a case of frames behind a good handshake."""
    return Case(name, HANDSHAKE + sent, (101,), kept=False, rule=rule, said=said, closes=closes)


def refused_hello(name: str, *messages: object, code: str = "invalid_hello") -> Case:
    """Make a case of messages in one segment of which the first is answered, by a refusal."""
    sent = b"".join(text(message) for message in messages)
    return framed(name, sent, said=(f"hello:error {code}",), closes=1008)
