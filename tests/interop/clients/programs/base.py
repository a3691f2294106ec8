r"""What the programs in Python have in common: orders in, one line of JSON out for each.

An order is one line of fields between tabs: mode (``http``, ``follow``, ``sse`` or ``ws``),
method, URL, header lines joined with ``\x1f``, and a body: ``-`` for none, ``t:TEXT``, or
``s:SIZE`` for that many bytes that the program makes as it sends them. With ``sse`` the
body is ``n:URL``: what to fetch after each event.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import define, frozen

PIECE = b"0123456789abcdef" * 1024
SECONDS = float(os.environ.get("CLIENT_SECONDS", "20"))
"""After which a client gives an answer up."""


class NotAvailableError(Exception):
    """The client itself cannot do it; the text says why."""


@frozen
class Order:
    """What is to be done."""

    mode: str
    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: str

    @classmethod
    def read(cls, line: str) -> Order:
        """Read a line."""
        mode, method, url, headers, body = line.rstrip("\n").split("\t")
        pairs = [one.partition(":") for one in headers.split("\x1f") if one]
        return cls(mode, method, url, tuple((n, v) for n, _, v in pairs), body)

    @property
    def follow(self) -> bool:
        """Whether redirects are to be followed."""
        return self.mode == "follow"

    @property
    def text(self) -> bytes | None:
        """The body, when it is short."""
        return self.body[2:].encode() if self.body.startswith("t:") else None

    @property
    def streamed(self) -> int:
        """How many bytes of body are to be made; 0 when it is another kind of body."""
        return int(self.body[2:]) if self.body.startswith("s:") else 0

    @property
    def following_url(self) -> str:
        """What to fetch after each event."""
        return self.body[2:]

    def pieces(self) -> Iterator[bytes]:
        """Make the body."""
        left = self.streamed
        while left:
            piece = PIECE[:left]
            left -= len(piece)
            yield piece


@define
class Sum:
    """Counts a body without keeping it."""

    size: int = 0
    crc: int = 0
    start: bytes = b""

    def add(self, data: bytes) -> None:
        """Count a piece."""
        self.size += len(data)
        self.crc = zlib.crc32(data, self.crc)
        if len(self.start) < 4000:
            self.start += data


def answer(
    status: int, headers: Iterable[tuple[str, str]], body: Iterable[bytes] | bytes
) -> dict[str, Any]:
    """Say what the answer was."""
    total = Sum()
    for piece in [body] if isinstance(body, bytes) else body:
        total.add(piece)
    return summed(status, headers, total)


def summed(status: int, headers: Iterable[tuple[str, str]], total: Sum) -> dict[str, Any]:
    """Say what the answer was, its body counted already."""
    return {
        "status": status,
        "headers": [[name.lower(), value] for name, value in headers],
        "size": total.size,
        "crc": total.crc,
        "text": total.start[:4000].decode("latin-1"),
    }


def events(lines: Iterable[bytes | str], following: Callable[[], Any]) -> dict[str, Any]:
    """Read an event stream, fetching something after each event; the server waits for that."""
    seen = []
    for line in lines:
        text = line.decode() if isinstance(line, bytes) else line
        if text.startswith("data:"):
            seen.append(text[5:].strip())
            following()
    return {"events": seen}


def serve(act: Callable[[Order], dict[str, Any]]) -> None:
    """Do what each line says, until there is none."""
    for line in sys.stdin:
        report(act, Order.read(line))


def report(act: Callable[[Order], dict[str, Any]], order: Order) -> None:
    """Do what is said, and tell what came of it."""
    try:
        answer = act(order)
    except NotAvailableError as why:
        answer = {"na": str(why)}
    except Exception as error:  # noqa: BLE001 - what the client raises is the result
        answer = failed(error)
    send(answer)


def failed(error: BaseException) -> dict[str, Any]:
    """Say how a request failed: the error with its text, and the names of it and its causes."""
    return {"error": f"{type(error).__name__}: {error}", "causes": list(_causes(error))}


def _causes(error: BaseException) -> Iterator[str]:
    each: BaseException | None = error
    while each is not None:
        yield type(each).__name__
        # Twisted's errors have a list of failures.
        reasons = getattr(each, "reasons", None)
        each = reasons[-1].value if reasons else each.__cause__ or each.__context__


def send(answer: dict[str, Any]) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
