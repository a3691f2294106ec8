"""The OpenAPI document describes the live service: no path, field or header more or less."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from jsonschema import Draft202012Validator
from msgspec import Struct, UnsetType, structs
from openapi_spec_validator import validate
from openapi_spec_validator.readers import read_from_filename
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from twisted.trial.unittest import SynchronousTestCase

from tests.support.http_client import OWNER, Answer, Service, record
from trafficmock import __version__, records
from trafficmock.certificates.files import CertificateError
from trafficmock.history import rest_records, traffic_counts
from trafficmock.history.query import Query
from trafficmock.history.store import History
from trafficmock.server.rest.rest_api import API_PATHS
from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.serialized_matcher import (
    RouteMatchDiagnostic,
    SerializedCondition,
    SerializedMatcher,
    SerializedRegex,
    ShownRoute,
)
from trafficmock.wire.payloads.serialized_request import SerializedOverrides, SerializedRequest
from trafficmock.wire.payloads.serialized_response import SerializedError, SerializedResponse

DOCUMENT_PATH = Path(__file__).parents[3] / "docs" / "openapi.yaml"
SPEC: dict[str, Any] = read_from_filename(str(DOCUMENT_PATH))[0]
QUERY = Query()
SCHEMAS: dict[type[Struct], str] = {
    rest_records.RequestRecord: "HttpEntry",
    rest_records.RequestSummary: "HttpSummary",
    rest_records.RequestOutcome: "Outcome",
    rest_records.HttpEvent: "HttpEvent",
    rest_records.SocketRecord: "WebSocketSummary",
    rest_records.SocketEvent: "WebSocketEvent",
    rest_records.Totals: "Totals",
    rest_records.Summary: "Summary",
    traffic_counts.Counts: "Counts",
    traffic_counts.TrafficCounts: "TrafficCounts",
    traffic_counts.TestCounts: "TestCounts",
    SerializedRequest: "HttpRequest",
    SerializedResponse: "HttpResponse",
    SerializedOverrides: "Overrides",
    SerializedMatcher: "Matcher",
    SerializedCondition: "Condition",
    ShownRoute: "ShownRoute",
    RouteMatchDiagnostic: "Claimant",
}
"""The schemas of records."""

BESIDE = {
    "HttpRequest": {"bodyPending"},
    "HttpResponse": {"bodyPending"},
    "Overrides": {"truncated", "bodySize"},
}
"""Keys that are written with a body."""

UNSHOWN = {
    "Matcher": {"baseUrl"},
    "Overrides": {"contentType"},
    "HttpResponse": {"pieces"},
}
"""Keys of messages that records do not have."""

ALWAYS = {"server", "date", "content-type", "transfer-encoding", "connection"}
"""Headers that say nothing about the API."""


def strict(value: Any) -> Any:
    """Close every object, so that a field which is not described is a fault."""
    if isinstance(value, list):
        return [strict(item) for item in value]
    if not isinstance(value, dict):
        return value
    closed = {key: strict(item) for key, item in value.items()}
    if value.get("type") == "object" and "properties" in value:
        closed.setdefault("additionalProperties", False)
    return closed


CLOSED = strict(SPEC)
REGISTRY: Registry[Any] = Registry().with_resource(
    "urn:api", Resource.from_contents(CLOSED, DRAFT202012)
)


def resolve(value: Any) -> Any:
    """Follow a reference into the document."""
    while "$ref" in value:
        target = CLOSED
        for key in value["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        value = target
    return value


def faults(schema: Any, value: object) -> list[str]:
    located = json.loads(json.dumps(schema).replace('"#/', '"urn:api#/'))
    found = Draft202012Validator(located, registry=REGISTRY).iter_errors(value)
    return [f"{fault.json_path}: {fault.message}" for fault in found]


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in CLOSED["paths"].items():
        for method in ("get", "head", "options", "post", "put", "patch", "delete", "trace"):
            if method in item:
                yield path, method.upper(), item[method]


def fill_requests(history: History) -> None:
    """Record a request of every kind."""
    headers = {"content-type": "text/plain"}
    content = body.from_bytes(b"hello")
    answer = SerializedResponse(200, "OK", headers, content, "http://api.test/x", [("a", "b")])
    record(history, "mocked", body=b"question")
    record(history, "pending", answered=False)
    for request_id in ("continued", "passthrough", "aborted", "error", "cut"):
        request = SerializedRequest("http://api.test/x", "POST", headers, content, [("a", "b")])
        history.record(records.RequestSeen(request_id, "api", request), 1)
    history.record(
        records.RequestContinued(
            "continued",
            OWNER,
            SerializedOverrides("http://b.test/", "PUT", headers, content, [("a", "b")]),
        ),
        2,
    )
    history.record(records.ResponseReported("continued", answer, None), 3)
    history.record(records.RequestPassedThrough("passthrough"), 2)
    late = records.CarriedContext("T2", "sells", "shop.py", late=True)
    question = SerializedRequest("http://api.test/x", "GET", {}, body.NULL)
    history.record(records.RequestSeen("late", "api", question, carried=late), 1)
    history.record(records.RequestPassedThrough("late", ("R1", "R2")), 2)
    history.record(records.SocketSeen("late", "api", "ws://api.test/", [], carried=late), 1)
    history.record(records.SocketPassedThrough("late", ("R1", "R2")), 2)
    history.record(
        records.ResponseReported("passthrough", None, SerializedError("Error", "refused")), 3
    )
    get = SerializedRequest("http://b.test/", "GET", {}, body.NULL)
    history.record(records.HopSeen("hop", "api", get, "continued", "continue", OWNER), 4)
    history.record(records.RequestAborted("aborted", OWNER, "failed", "gave up"), 2)
    history.record(records.RequestFailed("error", None, "ambiguous_route", "two", claimants()), 2)
    cut = history.requests.get("cut")
    assert cut is not None
    cut.cut(cut.request_body)


def claimants() -> list[RouteMatchDiagnostic]:
    condition = SerializedCondition("json", ["a", 0], 1)
    matcher = SerializedMatcher(
        "**/x",
        SerializedRegex("x", "i"),
        ["GET"],
        ["api"],
        predicate=True,
        conditions=[condition],
    )
    return [RouteMatchDiagnostic("R1", "T1", "title", "file", "0", matcher)]


def fill_sockets(history: History) -> None:
    """Record a WebSocket of every kind."""
    for socket_id in ("matched", "through", "failed", "pending"):
        history.record(records.SocketSeen(socket_id, "api", "ws://api.test/", ["chat"]), 1)
    history.record(records.SocketOwned("matched", OWNER), 2)
    history.record(records.SocketActivity("matched", "client", "frame", None, "aGk=", True), 3)  # noqa: FBT003 - a field of the core's record
    history.record(records.SocketActivity("matched", "system", "handler", "connect", None, None), 3)
    history.record(records.SocketClosed("matched", "page", 1000, "bye", True), 4)  # noqa: FBT003 - a field of the core's record
    history.record(records.SocketPassedThrough("through"), 2)
    history.record(records.SocketFailed("failed", None, "ambiguous_route", "two", claimants()), 2)


def _may_lack(field: structs.FieldInfo) -> bool:
    """Return whether records may be without a key."""
    return not field.required or UnsetType in get_args(field.type)


def no_authority() -> bytes:
    raise CertificateError("cannot write")


def service() -> Service:
    made = Service()
    fill_requests(made.history)
    fill_sockets(made.history)
    return made


class DocumentTests(SynchronousTestCase):
    """The document by itself."""

    def test_valid(self) -> None:
        """It is valid OpenAPI 3.1."""
        validate(SPEC)

    def test_version(self) -> None:
        """It has the version of the package."""
        self.assertEqual(SPEC["info"]["version"], __version__)

    def test_all_paths(self) -> None:
        """Every route is described, with the methods it has, and nothing else is."""
        served = {path.replace("<segment>", "{id}") for path in API_PATHS} | {"/ws"}
        self.assertEqual(set(SPEC["paths"]), served)
        for path in served - {"/ws"}:
            described = {method for at, method, _ in operations() if at == path}
            self.assertEqual(described, {"GET", "HEAD", "OPTIONS"}, path)

    def test_error_codes(self) -> None:
        """The list of codes holds every code that the HTTP side can send."""
        product = Path(__file__).parents[3] / "trafficmock"
        sources = [path for room in ("http", "server") for path in (product / room).rglob("*.py")]
        pattern = re.compile(r'(?:RestError|refuse|bare_answer)\(\s*[0-9]+,\s*"([a-z_]+)"')
        used = {code for path in sources for code in pattern.findall(path.read_text("utf-8"))}
        listed = set(SPEC["components"]["schemas"]["Error"]["properties"]["error"]["enum"])
        self.assertEqual(listed, used - {"har_unavailable"})

    def test_records(self) -> None:
        """The schema of each record has its keys, and requires those that are always there."""
        for structure, name in SCHEMAS.items():
            schema, fields = SPEC["components"]["schemas"][name], structs.fields(structure)
            keys = {each.encode_name for each in fields} - UNSHOWN.get(name, set())
            self.assertEqual(set(schema["properties"]), keys | BESIDE.get(name, set()), name)
            always = {each.encode_name for each in fields if not _may_lack(each)}
            self.assertEqual(set(schema.get("required", [])), always, name)


class LiveTests(SynchronousTestCase):
    """The answers of the real site against the document."""

    def check(self, path: str, method: str, answer: Answer) -> None:
        """Compare an answer with what its operation says of its status."""
        where = f"{method} {path} {answer.status}"
        responses = CLOSED["paths"][path][method.lower()]["responses"]
        described = resolve(responses.get(str(answer.status), responses["default"]))
        self.check_headers(where, described.get("headers", {}), answer)
        content = described.get("content")
        if method == "HEAD" or content is None:
            self.assertEqual(answer.body, b"", where)
            return
        ((kind, described),) = content.items()
        as_json = kind == "application/json"
        sent = f"{kind}; charset=utf-8" if as_json else kind
        self.assertEqual(answer.headers["content-type"], sent, where)
        value = answer.json() if as_json else answer.body.decode()
        self.assertEqual(faults(described["schema"], value), [], where)

    def check_headers(self, where: str, described: dict[str, Any], answer: Answer) -> None:
        known = {name.lower(): resolve(header) for name, header in described.items()}
        for name, header in known.items():
            if name in answer.headers:
                self.assertEqual(faults(header["schema"], answer.headers[name]), [], where)
            else:
                self.assertFalse(header.get("required"), f"{where}: {name}")
        self.assertEqual(set(answer.headers) - set(known) - ALWAYS, set(), where)

    def test_every_operation(self) -> None:
        """Each operation answers as described, from plain and from local and foreign pages."""
        made = service()
        for path, method, _ in operations():
            target = path.format(id="matched" if "/ws/" in path else "mocked")
            for headers in (
                {},
                {"origin": "http://localhost:1"},
                {"origin": "http://evil.example"},
            ):
                answer = made.ask(target, method=method, **headers)
                self.assertIn(answer.status, (200, 204, 426), target)
                self.check(path, method, answer)

    def test_every_entry(self) -> None:
        """Requests and WebSockets of every kind have the fields that are described."""
        made = service()
        for rows, path in ((made.history.requests, "history"), (made.history.sockets, "ws")):
            shown = [answered.id for found in rows.slices(QUERY) for answered in found]
            self.assertGreater(len(shown), 3)
            for entry_id in shown:
                answer = made.ask(f"/api/{path}/{entry_id}")
                self.check(f"/api/{path}/{{id}}", "GET", answer)
                if path == "history":
                    har = made.ask(f"/api/history/{entry_id}/har")
                    self.check("/api/history/{id}/har", "GET", har)

    def test_lists(self) -> None:
        """Both lists, whole and as summaries, are as described, and the parameters are taken."""
        for path in ("/api/history", "/api/ws"):
            for query in ("", "?fields=summary", "?q=hello&from=1&to=9&limit=2&offset=0"):
                self.check(path, "GET", service().ask(path + query))
            made = service()
            changes = made.ask(f"{path}?since={made.ask(path).headers['etag']}")
            self.assertEqual(changes.json()["removed"], [])
            self.check(path, "GET", changes)

    def test_parameters(self) -> None:
        """Every parameter that is described does something; values beside the schema are 400."""
        for path in ("/api/history", "/api/ws"):
            for parameter in map(resolve, CLOSED["paths"][path]["get"]["parameters"]):
                if parameter["in"] == "query" and parameter["schema"].get("type") != "string":
                    answer = service().ask(f"{path}?{parameter['name']}=x")
                    self.assertEqual(answer.status, 400, parameter["name"])
                    self.check(path, "GET", answer)
        self.check("/api/ws", "GET", service().ask("/api/ws?fields=x"))

    def test_texts(self) -> None:
        """Every parameter that takes a text changes the answer, or is refused."""
        everything = service()
        for path in ("/api/history", "/api/ws"):
            whole = everything.ask(path).json()
            for parameter in map(resolve, CLOSED["paths"][path]["get"]["parameters"]):
                # Any value of ``since`` that is no tag of this process asks for everything.
                if parameter["in"] != "query" or parameter["name"] == "since":
                    continue
                if parameter["schema"].get("type") == "string":
                    answer = everything.ask(f"{path}?{parameter['name']}=x")
                    found = answer.json() if answer.status == 200 else answer.status
                    self.assertNotEqual(found, whole, (path, parameter["name"]))

    def test_not_modified(self) -> None:
        """304 is as described wherever it is described, and nowhere else."""
        for path, method, operation in operations():
            target = path.format(id="matched" if "/ws/" in path else "mocked")
            answer = service().ask(target, method=method, if_none_match="*")
            self.assertEqual(answer.status == 304, "304" in operation["responses"], target)
            self.check(path, method, answer)

    def test_errors(self) -> None:
        """The errors of each operation are as described."""
        far = {"peer": "10.0.0.2", "bound": "10.0.0.1", "host": "10.0.0.1"}
        for path, method, _ in operations():
            unknown = path.format(id="nope")
            self.check(path, method, service().ask(unknown, method=method))
            self.check(path, method, service().ask(unknown, method=method, host="evil.example"))
            self.check(path, method, service().ask(unknown, method=method, **far))
            self.check(path, "GET", service().ask(unknown, method="POST"))
        broken = service()
        broken.ca_pem = no_authority
        self.check("/ca.pem", "GET", broken.ask("/ca.pem"))
        upgrade = {"upgrade": "websocket", "connection": "upgrade", "origin": "http://evil.example"}
        self.check("/ws", "GET", service().ask("/ws", **upgrade))
