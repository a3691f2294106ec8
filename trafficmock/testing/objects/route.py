"""The first argument of a route's handler (Playwright's ``Route``)."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from trafficmock.testing.objects.request import AsyncRequest, Request
from trafficmock.testing.objects.response import AsyncResponse, Response
from trafficmock.testing.promise import mapped
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions
from trafficmock.testing.session.handlers.mock_response import File, Mock
from trafficmock.testing.session.observation.waiting import Timeout, milliseconds

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from trafficmock.testing.objects.response import BaseResponse
    from trafficmock.testing.session.arguments.headers import HeadersArgument
    from trafficmock.testing.session.arguments.request_overrides import PostData
    from trafficmock.testing.session.handlers.routed_request import RoutedRequest
    from trafficmock.testing.session.ports import Adapter

__tracebackhide__ = True
"""For pytest: a failure is shown where the test's own code called."""

RequestT = TypeVar("RequestT")
DoneT = TypeVar("DoneT")
FetchedT = TypeVar("FetchedT")


class BaseRoute(Generic[RequestT, DoneT, FetchedT]):
    """One request that a handler has to decide.

    Exactly one decision is made, and counts from the call on; ``fetch`` is not one. What a call
    gives depends on how the test is written: see the classes below.
    """

    def __init__(self, routed: RoutedRequest, adapter: Adapter) -> None:
        self._routed = routed
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._routed.request}>"

    @property
    def request(self) -> RequestT:
        """The request, as changed so far."""
        request: RequestT = self._adapter.show(self._routed.request)
        return request

    def fulfill(
        self,
        *,
        status: int | None = None,
        status_text: str | None = None,
        headers: HeadersArgument | None = None,
        body: str | bytes | None = None,
        json: Any = None,
        path: str | os.PathLike[str] | None = None,
        content_type: str | None = None,
        response: BaseResponse | None = None,
    ) -> DoneT:
        """Answer the application.

        :param status: 200 to 599; 200 unless given, or that of ``response``.
        :param status_text: the reason phrase beside the status, in latin-1 without control
            characters. Unless given, or empty: that of ``response`` where the status is its own,
            else the usual one, such as ``Not Found`` for 404.
        :param headers: replace those of ``response``; pairs where a name repeats.
        :param path: a file that is the body.
        :param response: what the rest is taken from.
        :raises UsageError: no response can be made of this, or it is decided already.
        """
        file = None if path is None else File(str(path), Path(path).read_bytes())
        mock = Mock(
            status=status,
            status_text=status_text,
            headers=headers,
            body=body,
            json=json,
            file=file,
            content_type=content_type,
            response=None if response is None else response._state,  # noqa: SLF001 - ours too
        )
        return self._decide(lambda: self._routed.fulfill(mock))

    def continue_(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
    ) -> DoneT:
        """Send the request upstream, with these changes and those of earlier fallbacks.

        :raises UsageError: the URL has another scheme, or it is decided already.
        """
        return self._decide(
            lambda: self._routed.continue_(
                url=url, method=method, headers=headers, post_data=post_data
            )
        )

    def fallback(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
    ) -> DoneT:
        """Leave the request to the next handler that matches it, changed so.

        :raises UsageError: it is decided already.
        """
        return self._decide(
            lambda: self._routed.fallback(
                url=url, method=method, headers=headers, post_data=post_data
            )
        )

    def abort(self, error_code: str | None = None) -> DoneT:
        """Fail the request as a network would.

        :param error_code: one of Playwright's codes; ``failed`` unless given, and for those that
            no server sees.
        :raises UsageError: another code; or it is decided already.
        """
        return self._decide(lambda: self._routed.abort(error_code or "failed"))

    def fetch(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
        timeout: Timeout = None,
        max_redirects: int | None = None,
        max_retries: int | None = None,
    ) -> FetchedT:
        """Ask the upstream, from the application's process; decides nothing.

        :param timeout: milliseconds or a ``timedelta``; 0 for none, 30 s unless given.
        :raises FetchError: there was no response, or not in time.
        :raises UsageError: the options make no request.
        """
        options = FetchOptions(
            url=url,
            method=method,
            headers=headers,
            post_data=post_data,
            timeout=milliseconds(timeout),
            max_redirects=max_redirects,
            max_retries=max_retries,
        )
        fetched: FetchedT = self._adapter.wait_for(
            lambda: mapped(self._routed.fetch(options), self._adapter.show)
        )
        return fetched

    def _decide(self, function: Callable[[], None]) -> DoneT:
        self._adapter.call(function)
        done: DoneT = self._adapter.done()
        return done


class Route(BaseRoute[Request, None, Response]):
    """A route as blocking tests see it."""


class AsyncRoute(BaseRoute[AsyncRequest, Awaitable[None], Awaitable[AsyncResponse]]):
    """A route as asyncio and Twisted tests see it; to await a decision is customary, not needed."""
