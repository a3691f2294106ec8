"""Runs a case against a proxy: who is asked, what is compared, and what is reported."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise

from attrs import frozen

from tests.hostile.clients.raw import Raw, connect
from tests.hostile.exchanges import reading
from tests.hostile.exchanges.case import DEAD, OWN, UPSTREAM, Arrives, Case
from tests.hostile.exchanges.upstream import PROBE, Upstream

_DEAD = b"127.0.0.1:9"
"""The discard port, where nobody listens."""

_LONG = 2000
"""Characters of a text that nobody would read."""

_LONG = 2000
"""Characters of a text that nobody would read."""

_NORMAL = 1000
"""The code of a close frame that needs no reason."""

_PROBE = f"GET http://{{U}}{PROBE} HTTP/1.1\r\nHost: {{U}}\r\nConnection: close\r\n\r\n"


@frozen
class CaseRunner:
    """
    Where cases are run.

    :param url: of the proxy.
    :param upstream: the server that cases ask.
    """

    url: str
    upstream: Upstream

    async def run(self, case: Case, cuts: tuple[int, ...] = ()) -> list[str]:
        """
        Run a case to the end of its connection.

        :param cuts: where what is sent is cut into writes of their own.
        :returns: what differs from the expectation.
        """
        self.upstream.expect(case.reply and self.filled(case.reply), ends=case.reply_ends)
        raw = await connect(self.url)
        try:
            await self._send(raw, self.filled(case.sent), cuts)
            if case.answers == (101,):
                return [fault async for fault in self._frames(raw, case)]
            if case.half_close:
                raw.half_close()
            received = await self._received(raw, case)
        except Exception as error:  # noqa: BLE001 - whatever it is, the case has failed
            seen = [message.first for message in self.upstream.seen]
            return [f"{type(error).__name__} {error}; got {bytes(raw.received[:300])!r}, {seen}"]
        finally:
            raw.reset()
        return [*self._judge_answers(case, received), *self._judge_upstream(case)]

    def filled(self, data: bytes) -> bytes:
        """Put authorities in the place of what stands for them."""
        own = self.url.removeprefix("http://").encode("ascii")
        upstream = self.upstream.authority.encode("ascii")
        return data.replace(UPSTREAM, upstream).replace(OWN, own).replace(DEAD, _DEAD)

    async def _send(self, raw: Raw, data: bytes, cuts: tuple[int, ...]) -> None:
        edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
        for start, end in pairwise(edges):
            raw.write(data[start:end])

    async def _received(self, raw: Raw, case: Case) -> bytes:
        """Give all that comes until the end; a connection that is to be kept is asked once more."""
        if case.kept:
            due = partial(self._has_answered, raw, case)
            await raw.until(due)
            raw.write(self._probe(case))
        return await raw.end()

    async def _frames(self, raw: Raw, case: Case) -> AsyncIterator[str]:
        """Compare what comes behind a handshake; the client closes its direction after that."""
        status, _ = await raw.head()
        if status != 101:
            yield f"answer {status}, not 101"
            return
        said = [await raw.message() for _ in case.said]
        words = tuple(" ".join(filter(None, (one["type"], one.get("code")))) for one in said)
        if words != case.said:
            yield f"messages {words}, not {case.said}"
        for text in (one["message"] for one in said if "message" in one):
            if not 0 < len(text) < _LONG:
                yield f"a text of {len(text)} characters"
        if case.closes is not None:
            code, reason = await raw.close_frame()
            refusal = words[-1].partition("hello:error ")[2] if words else ""
            right = reason == refusal if refusal else bool(reason) or code == _NORMAL
            if code != case.closes or not right:
                yield f"close {code} {reason!r}, not {case.closes}"
        raw.half_close()
        if rest := await raw.end():
            yield f"something came behind that: {rest[:300]!r}"

    def _probe(self, case: Case) -> bytes:
        probe = self.filled(_PROBE.encode("ascii"))
        if case.sent.startswith(b"CONNECT"):
            return probe.replace(f"http://{self.upstream.authority}".encode("ascii"), b"")
        return probe

    def _has_answered(self, raw: Raw, case: Case) -> bool:
        try:
            found = reading.answers(bytes(raw.received), methods(case))
        except reading.UnreadableError:
            return False
        final = [one for one in found if int(one.first[0]) >= 200 and one.whole]
        return len(final) >= len(case.answers)

    def _judge_answers(self, case: Case, received: bytes) -> Iterator[str]:
        try:
            found = reading.answers(received, methods(case))
        except reading.UnreadableError as error:
            yield f"the client got no HTTP: {error}"
            return
        final = [one for one in found if int(one.first[0]) >= 200]
        if case.kept:
            if not final or final[-1].body != b"done":
                yield f"the probe got {final[-1:]}"
            final = final[:-1]
        statuses = tuple(int(one.first[0]) for one in final)
        if statuses != case.answers:
            yield f"answers {statuses}, not {case.answers}: {received[-300:]!r}"
        elif final:
            yield from self._judge_last(case, final[-1])

    def _judge_last(self, case: Case, last: reading.Message) -> Iterator[str]:
        if last.whole == case.cut:
            yield "a whole answer" if last.whole else f"cut off: {last}"
        if case.code is not None:
            code = error_code(last.body)
            if code != case.code:
                yield f"error {code}, not {case.code}"
        if case.got is not None and last.body != case.got:
            yield f"body {last.body[:100]!r}, not {case.got!r}"
        yield from _judge_fields("the answer", case.got_headers, last, self._text)

    def _judge_upstream(self, case: Case) -> Iterator[str]:
        yield from (f"the upstream got no HTTP: {fault}" for fault in self.upstream.faults)
        seen = [one for one in self.upstream.seen if one.first[1] != PROBE]
        lines = [one.first for one in seen]
        due = [(one.method, one.target) for one in case.arrives]
        if case.again and lines == due * 2:
            return
        if lines != due:
            yield f"the upstream saw {lines}, not {due}"
            return
        for message, arrives in zip(seen, case.arrives, strict=True):
            yield from self._judge_arrival(message, arrives)

    def _judge_arrival(self, message: reading.Message, arrives: Arrives) -> Iterator[str]:
        if message.body != arrives.body:
            yield f"the upstream saw the body {message.body[:100]!r}, not {arrives.body!r}"
        if message.field("host") != self.upstream.authority:
            yield f"the upstream saw the host {message.field('host')}"
        yield from _judge_fields("the upstream", arrives.headers, message, self._text)

    def _text(self, value: str) -> str:
        return self.filled(value.encode("latin-1")).decode("latin-1")


def _judge_fields(
    who: str,
    due: Mapping[str, str | None],
    message: reading.Message,
    filled: Callable[[str], str],
) -> Iterator[str]:
    for name, value in due.items():
        wanted = None if value is None else filled(value)
        if message.field(name) != wanted:
            yield f"{who} has {name}: {str(message.field(name))[:60]}, not {str(wanted)[:60]}"


def methods(case: Case) -> Iterator[str]:
    """Name the methods of a case's requests, as far as reading the answers depends on them."""
    if case.sent.startswith(b"CONNECT"):
        yield "CONNECT"
    elif case.sent.startswith(b"HEAD"):
        yield "HEAD"


def error_code(body: bytes) -> str | None:
    """Read the code of a trafficmock error body; ``None`` for other bodies."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    code = found.get("error") if isinstance(found, dict) else None
    return code if isinstance(code, str) else None
