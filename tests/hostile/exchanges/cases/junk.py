"""What cannot be read as a message on ``/ws``: no JSON, hardly JSON, or no message of a client."""

from collections.abc import Iterator

from tests.hostile.clients.frames import BINARY, TEXT, frame, text
from tests.hostile.clients.raw import HELLO
from tests.hostile.exchanges.case import Case, framed

_NESTED = 100_000
_JUNK = {
    "nothing": b"",
    "blanks": b" \r\n\t",
    "NUL": b"\0",
    "a word": b"hello",
    "half an object": b'{"type":"ping","at":',
    "two objects": b'{"type":"ping","at":1}{"type":"ping","at":2}',
    "something behind": b'{"type":"ping","at":1} x',
    "a comma too many": b'{"type":"ping","at":1,}',
    "single quotes": b"{'type':'ping','at':1}",
    "a comment": b'{"type":"ping",/* */"at":1}',
    "a byte order mark": b'\xef\xbb\xbf{"type":"ping","at":1}',
    "UTF-16": '{"type":"ping","at":1}'.encode("utf-16"),
    "NaN": b'{"type":"ping","at":NaN}',
    "Infinity": b'{"type":"ping","at":-Infinity}',
    "hexadecimal": b'{"type":"ping","at":0x10}',
    "a leading zero": b'{"type":"ping","at":01}',
    "a plus": b'{"type":"ping","at":+1}',
    "infinite": b'{"type":"ping","at":1e999}',
    "a raw line feed in a string": b'{"type":"ping\n","at":1}',
    "an unknown escape": b'{"type":"p\\xing","at":1}',
    "half an escape": b'{"type":"ping\\u00","at":1}',
    "a string that never ends": b'{"type":"' + b"x" * 1000,
    "invalid UTF-8": b'{"type":"agent:error","message":"\xff\xfe"}',
    "an overlong encoding": b'{"type":"agent:error","message":"\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"type":"agent:error","message":"\xed\xa0\x80"}',
    "beyond Unicode": b'{"type":"agent:error","message":"\xf5\x80\x80\x80"}',
    "null": b"null",
    "a number": b"42",
    "a string": b'"ping"',
    "a list": b'[{"type":"ping","at":1}]',
    "no type": b'{"at":1}',
    "a type of null": b'{"type":null}',
    "a type in a list": b'{"type":["ping"],"at":1}',
    "an unknown type": b'{"type":"pong:ping","at":1}',
    "an answer of ours": b'{"type":"hello:ok","connectionId":"x"}',
    "lists within lists": b"[" * _NESTED,
    "closed lists within lists": b"[" * _NESTED + b"]" * _NESTED,
    "objects within objects": b'{"type":"agent:error","message":"","detail":'
    + b'{"a":' * _NESTED
    + b"1"
    + b"}" * (_NESTED + 1),
    "nested keys that nobody knows": b'{"type":"ping","at":1,"x":'
    + b"[" * _NESTED
    + b"]" * _NESTED
    + b"}",
}


def _unreadable(name: str, sent: bytes) -> Iterator[Case]:
    """Make a case of a stranger, who is refused, and of clients, whose connections go on."""
    refusal = ("hello:error invalid_hello",)
    yield framed(f"{name}, of a stranger", frame(sent), said=refusal, closes=1008)
    for role in ("node", "playwright"):
        hello = text(HELLO | {"role": role, "clientId": "hostile"})
        for opcode in (TEXT, BINARY):
            yield framed(
                f"{name}, of a {role} with opcode {opcode}",
                hello + frame(sent, opcode=opcode) + text({"type": "ping", "at": 1}),
                said=("hello:ok", "proxy:error invalid_message", "pong"),
            )


JUNK = tuple(case for name, sent in _JUNK.items() for case in _unreadable(name, sent))
