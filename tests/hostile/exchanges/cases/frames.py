"""Frames that end a connection on ``/ws`` (RFC 6455), from strangers and from clients."""

import json
from collections.abc import Iterator

from tests.hostile.clients.frames import BINARY, CLOSE, CONTINUATION, PING, TEXT, frame, text
from tests.hostile.clients.raw import HELLO
from tests.hostile.exchanges.case import Case, framed

_HELLO = text(HELLO | {"role": "node", "clientId": "hostile"})
_HELLO_JSON = json.dumps(HELLO | {"role": "node"}).encode()
_WELCOME = ("hello:ok",)
_NORMAL, _PROTOCOL_ERROR, _INVALID_PAYLOAD, _TOO_BIG = 1000, 1002, 1007, 1009
_RULE = "RFC 6455 section 5"
_HUGE = 1 << 40

_FORBIDDEN = {
    "unmasked text": frame(_HELLO_JSON, masked=False),
    "unmasked close": frame(b"\x03\xe8", opcode=CLOSE, masked=False),
    **{f"reserved opcode {code}": frame(b"x", opcode=code) for code in (3, 4, 7, 0xB, 0xF)},
    **{f"reserved bits {bits}": frame(_HELLO_JSON, reserved=bits) for bits in range(1, 8)},
    "reserved bit of a ping": frame(b"x", opcode=PING, reserved=4),
    "fragmented ping": frame(b"x", opcode=PING, fin=False),
    "fragmented close": frame(b"\x03\xe8", opcode=CLOSE, fin=False),
    "long ping": frame(b"x" * 126, opcode=PING),
    "long close": frame(b"\x03\xe8" + b"x" * 124, opcode=CLOSE),
    "continuation of nothing": frame(b"x", opcode=CONTINUATION),
    "message within a message": frame(b"x", fin=False) + frame(b"x"),
    "compressed continuation": frame(b"x", fin=False)
    + frame(b"x", opcode=CONTINUATION, reserved=4),
    "length 2^63": frame(length=1 << 63),
    "length 2^64 - 1": frame(length=(1 << 64) - 1),
    "5 bytes in 2 bytes": frame(b"12345", length_bytes=2),
    "5 bytes in 8 bytes": frame(b"12345", length_bytes=8),
    "close of one byte": frame(b"\x03", opcode=CLOSE),
    **{
        f"close with {code}": frame(code.to_bytes(2, "big"), opcode=CLOSE)
        for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535)
    },
}
_GOODBYES = (1000, 1001, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)


def _forbidden(name: str, sent: bytes) -> Iterator[Case]:
    """Make a case before hello and one behind it; nothing that follows the frame is heard."""
    more = text({"type": "ping", "at": 1})
    yield framed(f"{name}, of a stranger", sent + _HELLO + more, _RULE, closes=_PROTOCOL_ERROR)
    yield framed(name, _HELLO + sent + more, _RULE, said=_WELCOME, closes=_PROTOCOL_ERROR)


def _ended(name: str, sent: bytes, code: int) -> Case:
    return framed(name, _HELLO + sent, _RULE, said=_WELCOME, closes=code)


FRAMES = (
    framed("hello", _HELLO, said=_WELCOME),
    *(case for name, sent in _FORBIDDEN.items() for case in _forbidden(name, sent)),
    _ended(
        "a reason that is not UTF-8", frame(b"\x03\xe8\xff\xfe", opcode=CLOSE), _INVALID_PAYLOAD
    ),
    *(
        _ended(
            f"goodbye with {code}", frame(code.to_bytes(2, "big") + b"bye", opcode=CLOSE), _NORMAL
        )
        for code in _GOODBYES
    ),
    *(
        _ended(
            f"{length} bytes announced, opcode {opcode}",
            frame(opcode=opcode, length=length),
            _TOO_BIG,
        )
        for length in (240 << 20, _HUGE, (1 << 63) - 1)
        for opcode in (TEXT, BINARY)
    ),
)
