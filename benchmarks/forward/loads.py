"""The loads of the forward proxy: kind of connection, sizes of bodies, number of requests."""

from __future__ import annotations

import enum

from attrs import field, frozen, validators

SMALL_BYTES = 200
LARGE_BYTES = 1_000_000
MOCKED_HOST = "mocked.test"
_A_THIRD = 1 / 3
_A_HALF = 1 / 2


class Way(enum.Enum):
    """How a client sends its requests."""

    PLAIN = "absolute-form requests on kept connections"
    MOCKED = "the same, answered by a mock"
    SECURE = "TLS in a tunnel that is kept"
    SECURE_NEW = "a tunnel and a TLS handshake for each request"


@frozen
class ForwardLoad:
    """
    One row of the comparison.

    :param name: short, for the command line and JSON.
    :param title: for the table.
    :param way: how clients send their requests.
    :param body_bytes: length of the request body; 0 is a GET.
    :param answer_bytes: length of the response body.
    :param in_flight: number of connections, each with one request at a time.
    :param warmup: requests before the first measured one.
    :param requests: requests of one measured round.
    :param cpu_target: the goal of the ratio ours / mitmproxy of CPU per request.
    :param memory_target: the same for resident memory.
    """

    name: str
    title: str
    way: Way
    body_bytes: int = 0
    answer_bytes: int = SMALL_BYTES
    in_flight: int = field(default=16, validator=validators.ge(1))
    warmup: int = 1500
    requests: int = 2000
    cpu_target: float | None = _A_HALF
    memory_target: float | None = 1.0


LOADS = (
    ForwardLoad("plain", "plain HTTP, 200 bytes", Way.PLAIN, cpu_target=_A_THIRD),
    ForwardLoad(
        "plain-large",
        "plain HTTP, 1 MB both ways",
        Way.PLAIN,
        body_bytes=LARGE_BYTES,
        answer_bytes=LARGE_BYTES,
        warmup=200,
        requests=150,
        cpu_target=_A_THIRD,
    ),
    ForwardLoad("secure", "HTTPS on kept connections", Way.SECURE),
    ForwardLoad(
        "secure-new", "a new HTTPS connection each", Way.SECURE_NEW, warmup=200, requests=300
    ),
    ForwardLoad("mocked", "plain HTTP, mocked by a test", Way.MOCKED),
)
