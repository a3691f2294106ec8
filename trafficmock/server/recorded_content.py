"""Gives the parts of recorded requests to the conditions of routes and waits."""

from __future__ import annotations

from trafficmock.history.request_entry import RequestEntry
from trafficmock.matching.request_content import RequestContent
from trafficmock.wire.http_syntax import lines_of


def recorded_content(entry: RequestEntry) -> RequestContent:
    """Return the parts of a request of the history, without a body that is not kept whole."""
    request, kept = entry.request, entry.request_body
    lines = lines_of(request.headers, request.headers_list)
    if kept is None:
        return RequestContent(request.url, lines, bytes)
    if kept.state != "whole":
        return RequestContent(
            request.url, lines, None, lacks="the history does not have the whole body"
        )
    return RequestContent(request.url, lines, kept.content)
