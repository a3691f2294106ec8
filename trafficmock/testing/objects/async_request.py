"""Requests of the application, as tests see them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from trafficmock.testing.errors import UsageError
from trafficmock.testing.promise import mapped
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.observation.request_state import RequestState

if TYPE_CHECKING:
    from trafficmock.testing.objects.async_caller import AsyncCaller
    from trafficmock.testing.objects.async_response import AsyncResponse


class AsyncRequest:
    """A request of the application, in asyncio and Twisted tests (Playwright's ``Request``).

    URL, method, headers and body include the changes that handlers have made so far.
    """

    def __init__(self, state: RequestState, adapter: AsyncCaller) -> None:
        self._state = state
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._state}>"

    @property
    def url(self) -> str:
        """The absolute URL."""
        return self._state.url

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self._state.method

    @property
    def headers(self) -> dict[str, str]:
        """The headers by lower-case name, as a copy.

        The values of a repeated header are joined: ``set-cookie`` by a line feed, ``cookie`` by a
        semicolon, others by a comma.
        """
        return hd.to_map(self._state.headers)

    @property
    def client_id(self) -> str:
        """The client id of the application that sent the request."""
        return self._state.client_id

    @property
    def post_data(self) -> str | None:
        """The body decoded as UTF-8; ``None`` when there is none.

        :raises UsageError: the proxy did not keep the whole body.
        """
        content = self._state.content
        return content.decode("utf-8", "replace") if content else None

    @property
    def post_data_buffer(self) -> bytes | None:
        """The body as bytes; ``None`` when there is none.

        :raises UsageError: the proxy did not keep the whole body.
        """
        return self._state.content or None

    @property
    def post_data_json(self) -> Any:
        """The body parsed as JSON; ``None`` when there is none.

        A body of the type ``application/x-www-form-urlencoded`` becomes a dict of its fields, with
        the last value of a repeated one.

        :raises UsageError: the body is not JSON, or the proxy did not keep the whole body.
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
    def redirected_from(self) -> AsyncRequest | None:
        """The request whose response redirected to this one, or ``None``."""
        return self._adapter.show(self._state.redirected_from)

    @property
    def redirected_to(self) -> AsyncRequest | None:
        """The request that followed the redirect of this one's response, or ``None``."""
        return self._adapter.show(self._state.redirected_to)

    @property
    def existing_response(self) -> AsyncResponse | None:
        """The response if it has come, else ``None``; does not wait."""
        return self._adapter.show(self._state.existing())

    @property
    def failure(self) -> None:
        """Always ``None``: why a request failed is known only to the application."""
        return None

    @property
    def resource_type(self) -> str:
        """Always ``other``: requests of servers do not belong to pages."""
        return "other"

    @property
    def service_worker(self) -> None:
        """Always ``None``."""
        return None

    @property
    def frame(self) -> Any:
        """Not available: requests of servers do not belong to pages.

        :raises UsageError: always.
        """
        raise UsageError("requests of a server have no frame")

    @property
    def timing(self) -> dict[str, float]:
        """Playwright's keys with placeholders: nothing is measured (-1)."""
        names = """domainLookupStart domainLookupEnd connectStart secureConnectionStart connectEnd
            requestStart responseStart responseEnd"""
        return {"startTime": 0.0, **dict.fromkeys(names.split(), -1.0)}

    def is_navigation_request(self) -> bool:
        """Return ``False``: requests of servers are not navigations."""
        return False

    async def all_headers(self) -> dict[str, str]:
        """Return ``headers``."""
        return self.headers

    async def headers_array(self) -> list[dict[str, str]]:
        """Return each header line as a dict with ``name`` and ``value``."""
        return [{"name": name, "value": value} for name, value in self._state.headers]

    async def header_value(self, name: str) -> str | None:
        """Return the value of a header, ``None`` without it; names are case-insensitive."""
        return hd.get(self._state.headers, name)

    async def sizes(self) -> dict[str, int]:
        """Return Playwright's keys with placeholders: nothing is measured (0)."""
        names = ["requestBodySize", "requestHeadersSize", "responseBodySize", "responseHeadersSize"]
        return dict.fromkeys(names, 0)

    def response(self) -> Awaitable[AsyncResponse | None]:
        """Wait for the response and return it; ``None`` when the request failed."""
        show: Callable[[Any], AsyncResponse | None] = self._adapter.show
        return self._adapter.wait_for(lambda: mapped(self._state.answered, show))
