"""What a client must be able to do through the proxy, as it does without."""

import gzip
import json
import re
import time
import zlib
from collections.abc import Callable
from typing import Any

from tests.interop.clients.cell import NOWHERE, Cell, FailedError, NotAvailableError, values
from tests.interop.clients.server import PIECE

LARGE = 3_000_000
_LARGE_CRC = zlib.crc32((PIECE * (LARGE // len(PIECE) + 1))[:LARGE])
ABORTS = ("failed", "aborted", "connectionreset", "connectionrefused", "namenotresolved")
"""The codes that fail a request at once."""
TIMED_OUT = "timedout"
RESETS = ("aborted", "connectionreset")
FAULTS = ("connection_reset", "empty_response", "malformed_chunk", "truncated")
"""The faults that end a connection; the other one leaves it open."""
DELAY_MS = 200
ATTACHED = "-attached"
"""How the names of clients end that load the preload of Python processes."""

_NEW_CONNECTION = "NewConnectionError"
ATTACHED_ERRORS = {
    "requests": {
        "connectionrefused": f"ConnectionError: HTTP.*{_NEW_CONNECTION}.*Errno 111",
        "namenotresolved": "ConnectionError: HTTP.*NameResolutionError.*Errno -2",
        "timedout": "ConnectTimeout: ",
        "connectionreset": "ConnectionError: .*ConnectionResetError",
        "aborted": "ConnectionError: .*ConnectionAbortedError",
    },
    "urllib3": {
        "connectionrefused": f"{_NEW_CONNECTION}: .*Errno 111",
        "namenotresolved": "NameResolutionError: .*Errno -2",
        "timedout": "ConnectTimeoutError: ",
        "connectionreset": "ProtocolError: .*ConnectionResetError",
        "aborted": "ProtocolError: .*ConnectionAbortedError",
    },
    "httpx": {
        "connectionrefused": "ConnectError: .*Errno 111",
        "namenotresolved": "ConnectError: .*Errno -2",
        "timedout": "ConnectTimeout: ",
        "connectionreset": "ReadError: .*Errno 104",
        "aborted": "ReadError: .*Errno 103",
    },
    "aiohttp": {
        "connectionrefused": "ClientConnectorError: ",
        "namenotresolved": "ClientConnectorDNSError: ",
        "timedout": "ConnectionTimeoutError: ",
        "connectionreset": "ClientOSError: .*Errno 104",
        "aborted": "ClientOSError: .*Errno 103",
    },
    "treq": {
        "connectionrefused": "ConnectionRefusedError: .*111",
        "namenotresolved": "DNSLookupError: ",
        "timedout": "TCPTimedOutError: ",
        "connectionreset": "ResponseNeverReceived: .*ConnectionLost",
        "aborted": "ResponseNeverReceived: .*ConnectionLost",
    },
    "urllib": {
        "connectionrefused": "URLError: .*Errno 111",
        "namenotresolved": "URLError: .*Errno -2",
        "timedout": "URLError: .*Errno 110",
        "connectionreset": "ConnectionResetError: ",
        "aborted": "ConnectionAbortedError: ",
    },
}
"""What attached clients raise, as ``docs/how-to/attach/python.md`` says; regular expressions."""

NO_NAME = {
    "aiohttp": "ClientConnectorDNSError: ",
    "websockets": "gaierror: .*Errno -2",
    "websockets_asyncio": "gaierror: .*Errno -2",
    "websocket_client": "WebSocketAddressException: .*Errno -2",
}
"""What attached clients raise for a WebSocket whose server's name is not known."""

ABORT_ERRORS = {
    "requests": ("ProxyError: ", "ConnectionError: "),
    "httpx": ("RemoteProtocolError: ", "ReadError: "),
    "aiohttp": ("ClientOSError: ", "ServerDisconnectedError: "),
    "urllib": ("RemoteDisconnected: ", "ConnectionResetError: "),
    "curl": ("curl 56: ", "curl 52: "),
}
"""How the errors of some clients begin, as ``docs/how-to/attach/anything.md`` says."""


def get(cell: Cell) -> None:
    """Path, query and headers arrive as they were sent."""
    seen = cell.echo("GET", "/echo?q=a%20b&r=1", ("x-sent", "yes"))
    assert (seen["method"], seen["target"]) == ("GET", "/echo?q=a%20b&r=1"), seen
    assert values(seen, "x-sent") == ["yes"], seen
    assert not values(seen, "proxy-authorization"), seen


def post(cell: Cell) -> None:
    """A body arrives."""
    seen = cell.echo("POST", "/echo", ("content-type", "text/plain"), body="t:a body")
    assert (seen["method"], seen["text"]) == ("POST", "a body"), seen


def download(cell: Cell) -> None:
    """A large body comes down whole."""
    answer = cell.ask("GET", f"/large/{LARGE}")
    assert (answer["size"], answer["crc"]) == (LARGE, _LARGE_CRC), answer["size"]


def upload(cell: Cell) -> None:
    """A body that is made while it is sent goes up whole."""
    seen = cell.echo("POST", "/echo", body=f"s:{LARGE}")
    assert (seen["size"], seen["crc"]) == (LARGE, _LARGE_CRC), seen


def event_stream(cell: Cell) -> None:
    """Each event is there before the server sends the next one."""
    name = f"{cell.client}-{cell.scheme}"
    following = cell.url(f"/release/{name}")
    answer = cell.ask("GET", f"/events/{name}", mode="sse", body=f"n:{following}")
    assert answer["events"] == ["event 0", "event 1", "event 2"], answer


def chunked(cell: Cell) -> None:
    """A body in chunks comes whole."""
    answer = cell.ask("GET", "/chunked")
    assert answer["text"] == "".join(f"chunk {number};" for number in range(5)), answer


def without_body(cell: Cell) -> None:
    """HEAD, 204 and 304 have no body, and HEAD keeps its length."""
    head = cell.ask("HEAD", "/head")
    assert (head["status"], head["size"]) == (200, 0), head
    assert values(head, "content-length") == ["1234"], head
    for status in (204, 304):
        answer = cell.ask("GET", f"/status/{status}")
        assert (answer["status"], answer["size"]) == (status, 0), answer


def kept_alive(cell: Cell) -> None:
    """Many requests follow each other."""
    for number in range(10):
        seen = cell.echo("GET", f"/echo?number={number}")
        assert seen["target"] == f"/echo?number={number}", seen


def mocked(cell: Cell) -> None:
    """A test answers."""
    answer = cell.ask("GET", "/mocked")
    assert (answer["status"], answer["text"]) == (201, "from the test"), answer
    assert values(answer, "x-mock") == ["yes"], answer


def streamed(cell: Cell) -> None:
    """A test answers event by event: each is there before it sends the next one."""
    name = f"{cell.client}-{cell.scheme}"
    following = cell.url(f"/next-event/{name}")
    answer = cell.ask("GET", f"/streamed/{name}", mode="sse", body=f"n:{following}")
    assert answer["events"] == ["event 0", "event 1", "event 2"], answer


def delayed(cell: Cell) -> None:
    """A mock comes after its delay."""
    began = time.monotonic()
    answer = cell.ask("GET", "/delayed")
    assert (answer["status"], answer["text"]) == (200, "late"), answer
    assert time.monotonic() - began >= DELAY_MS / 1000, "too early"


def broken(cell: Cell) -> None:
    """A mock with a fault is an error of the client, with each fault that ends."""
    for fault in FAULTS:
        try:
            answer = cell.ask("GET", f"/broken/{fault}")
        except FailedError:
            continue
        raise AssertionError((fault, answer))


def overridden(cell: Cell) -> None:
    """A test changes what goes on to the server."""
    seen = cell.echo("GET", "/overridden")
    assert (seen["method"], seen["target"], seen["text"]) == ("PUT", "/echo", "changed"), seen
    assert values(seen, "x-added") == ["yes"], seen


def aborted(cell: Cell) -> None:
    """A test's abort is an error of the network, or over http a 502 that names its code."""
    if cell.client.endswith(ATTACHED):
        _attached_abort(cell)
        return
    for code in ABORTS:
        try:
            answer = cell.ask("GET", f"/aborted/{code}")
        except FailedError as error:
            assert cell.scheme == "https" or code in RESETS, (code, error)
            wanted = ABORT_ERRORS.get(cell.client, ("",))
            assert str(error).startswith(wanted), (code, error)
            continue
        assert cell.scheme == "http" and code not in RESETS, (code, answer)
        assert answer["status"] == 502, (code, answer)
        assert json.loads(answer["text"])["error"] == code, (code, answer)


def _attached_abort(cell: Cell) -> None:
    """Over both schemes an abort is the error that a network makes in this client."""
    name = cell.client.removesuffix(ATTACHED)
    for code, wanted in ATTACHED_ERRORS.get(name, dict.fromkeys(ABORTS, "")).items():
        try:
            answer = cell.ask("GET", f"/aborted/{code}")
        except FailedError as error:
            assert re.match(wanted, str(error)), (code, error)
        else:
            raise AssertionError((code, answer))


def refused(cell: Cell) -> None:
    """Strict mode refuses with 403, or by an error, and the client does not ask again."""
    try:
        answer = cell.ask("GET", "/refused", host="refused.test")
    except FailedError as error:
        assert cell.client.endswith(ATTACHED), error
        assert re.match("TrafficMockError: .*strict mode allows only", str(error)), error
    else:
        assert answer["status"] == 403, answer
        assert json.loads(answer["text"])["error"] == "unmatched_request", answer
    assert len(cell.entries("/refused")) == 1, cell.entries("/refused")


def redirected(cell: Cell) -> None:
    """A redirect is followed by the client, and its hops are linked."""
    answer = cell.ask("GET", "/redirect", mode="follow")
    assert answer["status"] == 200, answer
    assert json.loads(answer["text"])["target"] == "/echo?redirected", answer
    last, first = cell.entries("/echo?redirected")[0], cell.entries("/redirect")[0]
    assert last["redirectedFromId"] == first["id"], (first, last)


def zipped(cell: Cell) -> None:
    """A compressed body reaches the client as it was."""
    answer = cell.ask("GET", "/zipped")
    body = answer["text"].encode("latin-1")
    assert (gzip.decompress(body) if body[:1] == b"\x1f" else body) == b"was gzip", answer
    # treq takes the header away when it has decoded the body.
    assert values(answer, "content-encoding") == (
        [] if cell.client.startswith("treq") else ["gzip"]
    ), answer


def repeated(cell: Cell) -> None:
    """Repeated headers and cookies stay apart or are joined, none is lost."""
    answer = cell.ask("GET", "/cookies")
    assert values(answer, "set-cookie") == ["a=1", "b=2"], answer
    assert values(answer, "x-r") == ["1", "2"], answer
    seen = cell.echo("GET", "/echo", ("x-r", "1"), ("x-r", "2"), ("cookie", "a=1; b=2"))
    assert values(seen, "x-r") == ["1", "2"], seen
    assert values(seen, "cookie") == ["a=1; b=2"], seen


def identified(cell: Cell) -> None:
    """The credentials in the proxy's URL say who asks."""
    cell.ask("GET", "/echo?identified")
    entry = cell.entries("/echo?identified")[0]
    assert entry["clientId"] == cell.client, entry
    agents = cell.look("/api/connections")["nodeAgents"]
    kinds = {agent.get("kind") for agent in agents if agent["clientId"] == cell.client}
    assert kinds <= {"proxy", "python"}, agents


def expected(cell: Cell) -> None:
    """``Expect: 100-continue`` is met."""
    if cell.client not in {"curl", "java", "go"}:
        raise NotAvailableError("it does not wait for the 100")
    seen = cell.echo("POST", "/echo", ("expect", "100-continue"), body="t:expected")
    assert seen["text"] == "expected", seen


def _talk(cell: Cell, path: str) -> dict[str, object]:
    scheme = {"http": "ws", "https": "wss"}[cell.scheme]
    return cell.ask("GET", path, mode="ws", scheme=scheme)


def websocket(cell: Cell) -> None:
    """A WebSocket is passed through: text, binary, subprotocol and close code."""
    answer = _talk(cell, "/socket")
    assert answer["messages"] == ["echo text", "00ff"], answer
    assert (answer["protocol"], answer["close"], answer["reason"]) == ("chat", 4321, "as told"), (
        answer
    )


def websocket_mocked(cell: Cell) -> None:
    """A WebSocket is mocked by a test, and no server is asked."""
    answer = _talk(cell, "/mocked-socket")
    assert answer["messages"] == ["mock text", "00ff"], answer
    assert (answer["close"], answer["reason"]) == (4322, "mocked"), answer


def websocket_history(cell: Cell) -> None:
    """A test connects a WebSocket through, and the history has the frames of both directions."""
    answer = _talk(cell, "/connected-socket")
    assert answer["messages"] == ["echo text", "00ff"], answer
    rows = cell.look("/api/ws")["connections"]
    row, *_ = [
        row
        for row in rows
        if row["url"].endswith("/connected-socket")
        and row.get("clientId") == cell.client
        and row["url"].startswith({"http": "ws:", "https": "wss:"}[cell.scheme])
    ]
    frames = [event["direction"] for event in row["events"] if _is_frame(event)]
    assert frames.count("client") == 3, row
    assert frames.count("server") == 2, row


def websocket_failed(cell: Cell) -> None:
    """A WebSocket that is refused, or has no server, fails; attached, as without the proxy."""
    scheme = {"http": "ws", "https": "wss"}[cell.scheme]
    name = cell.client.removesuffix(ATTACHED)
    for host, wanted in (
        ("refused.test", "TrafficMockError: .*strict mode allows only"),
        (NOWHERE, NO_NAME.get(name, "")),
    ):
        try:
            answer = cell.ask("GET", "/socket", mode="ws", scheme=scheme, host=host)
        except FailedError as error:
            assert name == cell.client or re.match(wanted, str(error)), error
        else:
            raise AssertionError(answer)


def _is_frame(event: dict[str, Any]) -> bool:
    return event["kind"] == "frame" and "detail" not in event


FEATURES: tuple[Callable[[Cell], None], ...] = (
    get,
    post,
    download,
    upload,
    event_stream,
    chunked,
    without_body,
    kept_alive,
    mocked,
    streamed,
    delayed,
    broken,
    overridden,
    aborted,
    refused,
    redirected,
    zipped,
    repeated,
    identified,
    expected,
    websocket,
    websocket_mocked,
    websocket_history,
    websocket_failed,
)
