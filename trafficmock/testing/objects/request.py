"""Requests of the application, as tests see them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from trafficmock.testing.errors import UsageError
from trafficmock.testing.promise import mapped
from trafficmock.testing.session.arguments import headers as hd

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from trafficmock.testing.objects.response import AsyncResponse, Response
    from trafficmock.testing.session.observation.request_state import RequestState
    from trafficmock.testing.session.ports import Adapter


class BaseRequest:
    """What is there at once, whichever way a test is written (Playwright's ``Request``).

    URL, method, headers and body are those that handlers made of it so far.
    """

    def __init__(self, state: RequestState, adapter: Adapter) -> None:
        self._state = state
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._state}>"

    @property
    def url(self) -> str:
        """The whole URL."""
        return self._state.url

    @property
    def method(self) -> str:
        """The method."""
        return self._state.method

    @property
    def headers(self) -> dict[str, str]:
        """Headers by lower-case name, repeats joined; a copy."""
        return hd.to_map(self._state.headers)

    @property
    def client_id(self) -> str:
        """The agent that it comes from."""
        return self._state.client_id

    @property
    def post_data(self) -> str | None:
        """The body as text (UTF-8); ``None`` when there is none.

        :raises UsageError: the proxy did not keep all of it.
        """
        content = self._state.content
        return content.decode("utf-8", "replace") if content else None

    @property
    def post_data_buffer(self) -> bytes | None:
        """The body; ``None`` when there is none.

        :raises UsageError: the proxy did not keep all of it.
        """
        return self._state.content or None

    @property
    def post_data_json(self) -> Any:
        """The body read as JSON, or a form as a dict in which the last value wins.

        :raises UsageError: it is neither, or the proxy did not keep all of it.
        """
        content = self._state.content
        if not content:
            return None
        kind = hd.get(self._state.headers, "content-type") or ""
        if kind.split(";")[0].strip().lower() == "application/x-www-form-urlencoded":
            return dict(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))
        try:
            return json.loads(content)
        except ValueError as error:
            raise UsageError(f"POST data is not a valid JSON object: {error}") from None

    @property
    def redirected_from(self) -> Any:
        """The request whose redirect led here, if any."""
        return self._adapter.show(self._state.redirected_from)

    @property
    def redirected_to(self) -> Any:
        """The request that the redirect led to, if any."""
        return self._adapter.show(self._state.redirected_to)

    @property
    def existing_response(self) -> Any:
        """The response if it is there already; waits for nothing."""
        return self._adapter.show(self._state.existing())

    @property
    def failure(self) -> None:
        """Always ``None``: how a server's request failed is the server's to tell."""
        return None

    @property
    def resource_type(self) -> str:
        """Always ``other``: servers load no pages."""
        return "other"

    @property
    def service_worker(self) -> None:
        """Always ``None``."""
        return None

    @property
    def frame(self) -> Any:
        """There is none.

        :raises UsageError: always.
        """
        raise UsageError("requests of a server have no frame")

    @property
    def timing(self) -> dict[str, float]:
        """Placeholders, in Playwright's form."""
        names = """domainLookupStart domainLookupEnd connectStart secureConnectionStart connectEnd
            requestStart responseStart responseEnd"""
        return {"startTime": 0.0, **dict.fromkeys(names.split(), -1.0)}

    def is_navigation_request(self) -> bool:
        """Never: servers do not navigate."""
        return False

    def _sizes(self) -> dict[str, int]:
        names = ["requestBodySize", "requestHeadersSize", "responseBodySize", "responseHeadersSize"]
        return dict.fromkeys(names, 0)

    def _response(self) -> Any:
        adapter = self._adapter
        return adapter.wait_for(lambda: mapped(self._state.answered, adapter.show))

    def _headers_array(self) -> list[dict[str, str]]:
        return [{"name": name, "value": value} for name, value in self._state.headers]


class Request(BaseRequest):
    """A request as blocking tests see it."""

    def all_headers(self) -> dict[str, str]:
        """Give all headers by lower-case name."""
        return self.headers

    def headers_array(self) -> list[dict[str, str]]:
        """List headers as ``{"name", "value"}``, repeats apart."""
        return self._headers_array()

    def header_value(self, name: str) -> str | None:
        """Read one header; the name's case does not matter."""
        return hd.get(self._state.headers, name)

    def sizes(self) -> dict[str, int]:
        """Give placeholders, in Playwright's form."""
        return self._sizes()

    def response(self) -> Response | None:
        """Wait for the response; ``None`` when the request failed."""
        found: Response | None = self._response()
        return found


class AsyncRequest(BaseRequest):
    """A request as asyncio and Twisted tests see it."""

    async def all_headers(self) -> dict[str, str]:
        """Give all headers by lower-case name."""
        return self.headers

    async def headers_array(self) -> list[dict[str, str]]:
        """List headers as ``{"name", "value"}``, repeats apart."""
        return self._headers_array()

    async def header_value(self, name: str) -> str | None:
        """Read one header; the name's case does not matter."""
        return hd.get(self._state.headers, name)

    async def sizes(self) -> dict[str, int]:
        """Give placeholders, in Playwright's form."""
        return self._sizes()

    def response(self) -> Awaitable[AsyncResponse | None]:
        """Wait for the response; ``None`` when the request failed."""
        awaited: Awaitable[AsyncResponse | None] = self._response()
        return awaited
