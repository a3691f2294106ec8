"""A mock, as users of mitmproxy write it."""

from mitmproxy import http

_BODY = b'"' + b"x" * 198 + b'"'


def request(flow: http.HTTPFlow) -> None:
    """Answer requests for the host of the mocked load, which does not exist."""
    if flow.request.pretty_host == "mocked.test":
        flow.response = http.Response.make(200, _BODY, {"Content-Type": "application/json"})
