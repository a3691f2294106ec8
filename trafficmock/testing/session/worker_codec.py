"""Reads what the coordinator sends to workers."""

import json
from typing import Any

import msgspec

from trafficmock.wire import outbound
from trafficmock.wire.inbound import (
    ClosePage,
    CloseServer,
    MessageFromPage,
    MessageFromServer,
    Ping,
    Pong,
    RequestResponse,
)

WorkerMessage = (
    outbound.HelloOk
    | outbound.HelloError
    | Ping
    | Pong
    | outbound.TestRegistered
    | outbound.TestUnregistered
    | outbound.TestSubscribed
    | outbound.RouteRegistered
    | outbound.RouteUnregistered
    | outbound.RequestObserved
    | outbound.RequestClaim
    | outbound.RequestMatched
    | RequestResponse
    | outbound.FetchDone
    | outbound.ProxyError
    | outbound.HistoryResult
    | outbound.AgentsResult
    | outbound.SocketClaim
    | outbound.SocketMatched
    | MessageFromPage
    | MessageFromServer
    | ClosePage
    | CloseServer
)

_decoder: msgspec.json.Decoder[WorkerMessage] = msgspec.json.Decoder(WorkerMessage)


def decode_for_worker(payload: bytes) -> WorkerMessage | None:
    """Read one message of the coordinator.

    Lone surrogates, which JavaScript can send, become replacement characters.

    :returns: ``None`` for what a worker has no use for or does not know: a newer
        coordinator may say more than we understand.
    """
    try:
        return _decoder.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    try:
        document = _replace_surrogates(json.loads(payload))
        return _decoder.decode(json.dumps(document).encode())
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    return value
