"""
The loads: numbers of clients, tests and routes, URLs, sizes of bodies.

Requests are numbered. The number determines the test and route of a request
(:meth:`Load.route_of`), so that agent and workers agree on it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from attrs import field, frozen, validators

from benchmarks.generator.messages import ID_HOLE

CLIENT_ID = "bench-agent"


@frozen
class RouteKey:
    """One route of one test of one worker, by their indexes."""

    worker: int
    test: int
    route: int

    @property
    def path(self) -> str:
        """The part of the URL that is specific to this route."""
        return f"t{self.test}/r{self.route}"


@frozen
class Shape:
    """
    The form of the routes' matchers.

    :param matcher: returns the serialised matcher of a route (protocol 3).
    :param host: returns the host of the requests for a route.
    :param content: returns what a request for a route has as JSON in its body, if that counts.
    """

    matcher: Callable[[RouteKey], dict[str, Any]]
    host: Callable[[RouteKey], str] = field(default=lambda route: f"api{route.worker}.test")
    content: Callable[[RouteKey], Any] | None = None


SHAPES = {
    "host": Shape(lambda p: {"urlGlob": f"http://api{p.worker}.test/{p.path}/**"}),
    "host-per-test": Shape(
        lambda p: {"urlGlob": f"http://api{p.test}.test/{p.path}/**"},
        host=lambda p: f"api{p.test}.test",
    ),
    "any-host": Shape(lambda p: {"urlGlob": f"**/{p.path}/items/*"}),
    "star-host": Shape(lambda p: {"urlGlob": f"http://*.test/{p.path}/**"}),
    "braces": Shape(
        lambda p: {"urlGlob": f"http{{,s}}://api{p.worker}.test/{p.path}/{{items,lists}}/*"}
    ),
    "regex": Shape(
        lambda p: {"urlRegex": {"source": f"^http:\\/\\/api\\d+\\.test\\/{p.path}\\/", "flags": ""}}
    ),
    "one-url-json": Shape(
        lambda p: {
            "urlGlob": "http://*/orders/**",
            "conditions": [
                {"part": "json", "path": ["kind"], "equals": "order"},
                {"part": "json", "path": ["lines", 0, "id"], "equals": p.path},
            ],
        },
        content=lambda p: {"kind": "order", "lines": [{"id": p.path}]},
    ),
    "foreign-predicate": Shape(lambda _: {"predicate": True, "clientIds": ["somebody-else"]}),
}


@frozen
class Load:
    """
    One row of the comparison.

    :param name: short, for the command line and JSON.
    :param title: for the table.
    :param workers: worker connections; with 0 there are no tests and routes.
    :param tests: tests per worker.
    :param routes: routes per test.
    :param in_flight: requests that wait for their decision at the same time.
    :param hits: whether each request matches exactly one route, or none does.
    :param report: whether the agent reports the upstream response after a passthrough.
    :param request_bytes: length of the request body, before base64.
    :param response_bytes: length of the response body, before base64.
    :param shape: key of :data:`SHAPES`.
    :param features: the features that the workers announce.
    :param replies: whether the routes have fixed responses, for workers with the feature ``chain``.
    :param warmup: requests before the first measured one; above the default
        history limit, so that the history evicts entries.
    :param requests: requests of one measured round.
    :param cpu_target: the goal of the ratio ours / npm proxy of CPU per request.
    :param memory_target: the same for resident memory.
    """

    name: str
    title: str
    workers: int = field(default=1, validator=validators.ge(0))
    tests: int = 1
    routes: int = 1
    in_flight: int = field(default=1, validator=validators.ge(1))
    hits: bool = True
    report: bool = False
    request_bytes: int = 60
    response_bytes: int = 200
    shape: str = field(default="host", validator=validators.in_(SHAPES))
    features: tuple[str, ...] = ()
    replies: bool = False
    warmup: int = 1500
    requests: int = 4000
    cpu_target: float | None = None
    memory_target: float | None = None

    @property
    def fulfilled(self) -> bool:
        """Whether the decisions are ``decision:fulfill``, not ``decision:passthrough``."""
        return self.hits and self.workers > 0

    @property
    def test_count(self) -> int:
        """The number of tests of all workers."""
        return self.workers * self.tests

    def route_of(self, number: int) -> RouteKey:
        """Return the route of request ``number``: tests in turn, then their routes in turn."""
        tests = max(1, self.test_count)
        test = number % tests
        return RouteKey(
            worker=test % max(1, self.workers),
            test=test,
            route=number // tests % self.routes,
        )

    def routes_of(self, worker: int) -> list[RouteKey]:
        """Return all routes of one worker."""
        return [
            RouteKey(worker=worker, test=test, route=route)
            for test in range(worker, self.test_count, self.workers)
            for route in range(self.routes)
        ]

    def url(self, route: RouteKey) -> str:
        """Return the URL of requests to ``route``, with :data:`ID_HOLE` for the request's id."""
        shape = SHAPES[self.shape]
        path = route.path if self.hits else f"other/{route.path.replace('t', 'u')}"
        if shape.content is not None:
            path = "orders"
        return f"http://{shape.host(route)}/{path}/items/{ID_HOLE}"

    def request_body(self, route: RouteKey) -> str:
        """Return the body of requests to ``route``, in base64."""
        content = SHAPES[self.shape].content
        if content is None:
            return body(self.request_bytes)
        asked = content(route) if self.hits else None
        return base64.b64encode(json.dumps(asked).encode()).decode()

    def matcher(self, route: RouteKey) -> dict[str, Any]:
        """Return the serialised matcher of ``route``."""
        return SHAPES[self.shape].matcher(route)


def body(length: int) -> str:
    """Return a text of ``length`` bytes that resembles JSON, in base64."""
    item = '{"id":1,"name":"something","tags":["a","b"]},'
    text = "[" + (item * (length // len(item) + 1))[: max(0, length - 2)] + "]"
    return base64.b64encode(text.encode("ascii")).decode("ascii")


def _many_workers(name: str, title: str, **more: Any) -> Load:
    """Return a load of 8 workers with 4 tests of 5 routes each, 64 requests in flight."""
    return Load(name, title, 8, 4, 5, 64, requests=2000, **more)


LOADS = (
    Load("passthrough", "one agent, no worker", workers=0, requests=5000, cpu_target=0.8),
    Load(
        "passthrough-report",
        "the same, the response reported",
        workers=0,
        report=True,
        requests=5000,
    ),
    Load("passthrough-16", "the same, 16 in flight", workers=0, in_flight=16, requests=8000),
    Load("one-route", "1 test, 1 route, one at a time", requests=2000, cpu_target=0.8),
    Load("five-routes", "1 test, 5 routes, 32 in flight", routes=5, in_flight=32, cpu_target=0.6),
    _many_workers("many-workers", "8 workers x 4 tests x 5 routes, 64 in flight", cpu_target=0.25),
    _many_workers("many-workers-miss", "the same, no route matches", hits=False, cpu_target=0.2),
    _many_workers(
        "many-workers-any-host", "the same, one matches, **/t/r/items/* globs", shape="any-host"
    ),
    Load(
        "megabyte",
        "1 MB bodies both ways, after 1000 requests",
        request_bytes=1_000_000,
        response_bytes=1_000_000,
        warmup=1000,
        requests=50,
        cpu_target=0.3,
        memory_target=0.5,
    ),
)
