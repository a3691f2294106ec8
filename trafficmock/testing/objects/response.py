"""Responses that the application got, or that a handler fetched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trafficmock.testing.errors import UsageError
from trafficmock.testing.session.arguments import headers as hd

if TYPE_CHECKING:
    from trafficmock.testing.session.observation.request_state import ResponseState
    from trafficmock.testing.session.ports import Adapter

_OK = range(200, 300)


class BaseResponse:
    """What is there at once, whichever way a test is written (Playwright's ``Response``)."""

    def __init__(self, state: ResponseState, adapter: Adapter) -> None:
        self._state = state
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.status} {self.url}>"

    @property
    def request(self) -> Any:
        """The request that it answers."""
        return self._adapter.show(self._state.request)

    @property
    def url(self) -> str:
        """The URL that it came from."""
        return self._state.url

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._state.wire.status

    @property
    def status_text(self) -> str:
        """The text beside the status; may be empty."""
        return self._state.wire.status_text

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299."""
        return self.status in _OK

    @property
    def headers(self) -> dict[str, str]:
        """Headers by lower-case name, repeats joined."""
        return hd.to_map(self._state.headers)

    @property
    def from_service_worker(self) -> bool:
        """Never: these are requests of servers."""
        return False

    def header_value(self, name: str) -> str | None:
        """Read one header; the name's case does not matter."""
        return hd.get(self._state.headers, name)

    def headers_array(self) -> list[dict[str, str]]:
        """List headers as ``{"name", "value"}``, repeats apart."""
        return [{"name": name, "value": value} for name, value in self._state.headers]

    def header_values(self, name: str) -> list[str]:
        """List the values of a header that repeats; the name's case does not matter."""
        return [value for each, value in self._state.headers if each == name.lower()]

    def all_headers(self) -> dict[str, str]:
        """Give all headers by lower-case name."""
        return self.headers

    @property
    def frame(self) -> Any:
        """There is none.

        :raises UsageError: always.
        """
        raise UsageError("requests of a server have no frame")

    def dispose(self) -> None:
        """Let go of the body; reading it is an error from now on."""
        self._state.disposed = True


class Response(BaseResponse):
    """A response as blocking tests see it."""

    def body(self) -> bytes:
        """Give the body, decompressed.

        :raises UsageError: it was disposed of, or the proxy did not keep all of it.
        """
        return self._state.read()

    def text(self) -> str:
        """Give the body as text (UTF-8)."""
        return self._state.read().decode("utf-8", "replace")

    def json(self) -> Any:
        """Give the body read as JSON.

        :raises ValueError: it is not JSON.
        """
        return json.loads(self._state.read())


class AsyncResponse(BaseResponse):
    """A response as asyncio and Twisted tests see it."""

    async def body(self) -> bytes:
        """Give the body, decompressed.

        :raises UsageError: it was disposed of, or the proxy did not keep all of it.
        """
        return self._state.read()

    async def text(self) -> str:
        """Give the body as text (UTF-8)."""
        return self._state.read().decode("utf-8", "replace")

    async def json(self) -> Any:
        """Give the body read as JSON.

        :raises ValueError: it is not JSON.
        """
        return json.loads(self._state.read())
