"""Responses that the application got, or that a handler fetched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.observation.request_state import ResponseState

if TYPE_CHECKING:
    from trafficmock.testing.objects.async_caller import AsyncCaller
    from trafficmock.testing.objects.async_request import AsyncRequest

_OK = range(200, 300)


class AsyncResponse:
    """A response, in asyncio and Twisted tests (Playwright's ``Response``).

    The application got it, or :meth:`AsyncRoute.fetch` did.
    """

    def __init__(self, state: ResponseState, adapter: AsyncCaller) -> None:
        self._state = state
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.status} {self._state.request.shown_url}>"

    @property
    def request(self) -> AsyncRequest:
        """The request that the response answers."""
        return self._adapter.show(self._state.request)

    @property
    def url(self) -> str:
        """The URL of the resource; after redirects, that of the last request."""
        return self._state.url

    @property
    def status(self) -> int:
        """The HTTP status code."""
        return self._state.wire.status

    @property
    def status_text(self) -> str:
        """The reason phrase; may be empty."""
        return self._state.wire.status_text

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""
        return self.status in _OK

    @property
    def headers(self) -> dict[str, str]:
        """The headers by lower-case name, repeats joined as in :attr:`AsyncRequest.headers`."""
        return hd.to_map(self._state.headers)

    @property
    def from_service_worker(self) -> bool:
        """Always ``False``: servers have no service workers."""
        return False

    def header_value(self, name: str) -> str | None:
        """Return the value of a header, ``None`` without it; names are case-insensitive."""
        return hd.get(self._state.headers, name)

    def headers_array(self) -> list[dict[str, str]]:
        """Return each header line as a dict with ``name`` and ``value``."""
        return [{"name": name, "value": value} for name, value in self._state.headers]

    def header_values(self, name: str) -> list[str]:
        """Return the values of a repeated header, in order; names are case-insensitive."""
        return [value for each, value in self._state.headers if each == name.lower()]

    def all_headers(self) -> dict[str, str]:
        """Return ``headers``."""
        return self.headers

    @property
    def frame(self) -> Any:
        """Not available: requests of servers do not belong to pages.

        :raises UsageError: always.
        """
        raise UsageError("requests of a server have no frame")

    def dispose(self) -> None:
        """Release the body; reading it afterwards raises ``UsageError``."""
        self._state.disposed = True

    async def body(self) -> bytes:
        """Return the body, without its content coding.

        :raises UsageError: the response was disposed, or the proxy did not keep the whole body.
        """
        return self._state.read()

    async def text(self) -> str:
        """Return the body decoded as UTF-8; see :meth:`body` for errors."""
        return self._state.read().decode("utf-8", "replace")

    async def json(self) -> Any:
        """Return the body parsed as JSON; see :meth:`body` for further errors.

        :raises ValueError: the body is not JSON.
        """
        return json.loads(self._state.read())
