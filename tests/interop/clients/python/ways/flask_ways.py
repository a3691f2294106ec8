"""A Flask application: ``/way/NAME?who=…`` asks in that way, ``/ways`` lists them."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Flask, Response, jsonify, request

from tests.interop.clients.python.ways.blocking_ways import EARLY, WAYS, address, ask

application = Flask(__name__)


@application.get("/ways")
def ways() -> Response:
    EARLY.start()
    return jsonify([*WAYS, "before-request", "streamed-body", "closed-response"])


@application.before_request
def before_request() -> str | None:
    """Ask before there is a view."""
    if request.path != "/way/before-request":
        return None
    return ask(address("before-request", request.args["who"]))


@application.get("/way/<name>")
def way(name: str) -> str:
    return WAYS[name](address(name, request.args["who"]))


@application.get("/way/streamed-body")
def streamed_body() -> Response:
    """Ask while the body is sent, when the view has returned."""
    url = address("streamed-body", request.args["who"])

    def body() -> Iterator[str]:
        yield "it said "
        yield ask(url)

    return Response(body())


@application.get("/way/closed-response")
def closed_response() -> Response:
    """Ask when the response is closed."""
    url = address("closed-response", request.args["who"])
    response = Response("soon")
    response.call_on_close(lambda: ask(url))
    return response
