"""A mock that breaks as a failing server does, written to the client of the forward proxy."""

from __future__ import annotations

from msgspec import structs

from trafficmock.proxy.http1.forwarded_headers import chunk
from trafficmock.proxy.http1.heads import RequestHead
from trafficmock.proxy.transfer import request_rewriting
from trafficmock.wire.payloads import body as bodies
from trafficmock.wire.payloads.answer import BodyWay
from trafficmock.wire.payloads.serialized_response import SerializedResponse

NO_CHUNK = b"no size of a chunk\r\n"
"""Follows the part of a body before the fault ``malformed_chunk``."""


def bytes_before(way: BodyWay, response: SerializedResponse, request: RequestHead) -> bytes:
    """Write what the client gets before the fault.

    An empty body is framed in chunks: a client would not notice a fault after a length of 0.

    :param request: that is answered.
    :raises UpstreamError: if a header cannot be sent over HTTP.
    """
    if way.then == "empty_response":
        return b""
    content = bodies.to_bytes(response.body_base64)
    part = content[: way.after or 0]
    if way.then == "malformed_chunk" or not content:
        head = structs.replace(response, body_base64=bodies.NULL)
        block = request_rewriting.streamed_head(head, chunked=True, close=False)
        return block + chunk(part) if part else block
    whole = request_rewriting.mock_bytes(response, request, close=False)
    return whole[: len(whole) - len(content) + len(part)] if whole.endswith(content) else whole
