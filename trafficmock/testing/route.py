"""What a route handler gets in hand (Playwright's ``Route``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from trafficmock.testing.fetches import DEFAULT_TIMEOUT_MS, FetchOptions
from trafficmock.testing.mocks import File, Mock
from trafficmock.testing.promise import Promise
from trafficmock.testing.request import Views

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable

    from trafficmock.testing.changes import PostData
    from trafficmock.testing.exchange import Exchange
    from trafficmock.testing.headers import HeadersArgument
    from trafficmock.testing.request import AsyncRequest, Request
    from trafficmock.testing.response import (
        AsyncResponse,
        BaseResponse,
        Response,
        ResponseState,
    )


class Surroundings(Views, Protocol):
    """How the objects in a test's hands reach the session."""

    def call(self, function: Callable[[], Any]) -> Any:
        """Call something of the session, where it lives; what it raises is raised here."""

    def wait_for(self, function: Callable[[], Promise[Any]]) -> Any:
        """Call something of the session that gives a promise, and wait for that."""

    def done(self) -> Any:
        """Give what a call that is done already gives: nothing, or something to await."""


class BaseRoute:
    """One request that a handler has to decide."""

    def __init__(self, exchange: Exchange, surroundings: Surroundings) -> None:
        self._exchange = exchange
        self._surroundings = surroundings

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._exchange.request}>"

    def _request(self) -> Any:
        return self._surroundings.request(self._exchange.request)

    def _settle(self, function: Callable[[], None]) -> Any:
        self._surroundings.call(function)
        return self._surroundings.done()

    def _fulfill(
        self,
        *,
        path: str | os.PathLike[str] | None,
        response: BaseResponse | None,
        **given: Any,
    ) -> Any:
        file = None if path is None else File(str(path), Path(path).read_bytes())
        state = None if response is None else response._state  # noqa: SLF001 - ours too
        mock = Mock(file=file, response=state, **given)
        return self._settle(lambda: self._exchange.fulfill(mock))

    def _continue(self, **overrides: Any) -> Any:
        return self._settle(lambda: self._exchange.continue_(**overrides))

    def _fallback(self, **overrides: Any) -> Any:
        return self._settle(lambda: self._exchange.fallback(**overrides))

    def _abort(self, code: str) -> Any:
        return self._settle(lambda: self._exchange.abort(code))

    def _fetch(self, **options: Any) -> Any:
        return self._surroundings.wait_for(
            lambda: _shown(self._exchange.fetch(FetchOptions(**options)), self._surroundings)
        )


class Route(BaseRoute):
    """A route as blocking tests see it. Exactly one decision is made; ``fetch`` is none."""

    @property
    def request(self) -> Request:
        """The request, as changed so far."""
        request: Request = self._request()
        return request

    def fulfill(
        self,
        *,
        status: int | None = None,
        headers: HeadersArgument | None = None,
        body: str | bytes | None = None,
        json: Any = None,
        path: str | os.PathLike[str] | None = None,
        content_type: str | None = None,
        response: BaseResponse | None = None,
    ) -> None:
        """Answer the application.

        :param headers: replace those of ``response``; pairs where a name repeats.
        :param path: a file that is the body.
        :param response: what the rest is taken from.
        :raises UsageError: no response can be made of this, or it is decided already.
        """
        self._fulfill(
            status=status,
            headers=headers,
            body=body,
            json=json,
            path=path,
            content_type=content_type,
            response=response,
        )

    def continue_(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
    ) -> None:
        """Send the request upstream, with these changes and those of earlier fallbacks.

        :raises UsageError: the URL has another scheme, or it is decided already.
        """
        self._continue(url=url, method=method, headers=headers, post_data=post_data)

    def fallback(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
    ) -> None:
        """Leave the request to the next handler that matches it, changed so.

        :raises UsageError: it is decided already.
        """
        self._fallback(url=url, method=method, headers=headers, post_data=post_data)

    def abort(self, error_code: str = "failed") -> None:
        """Fail the request as a network would.

        :param error_code: Playwright's; those that no server sees count as ``failed``.
        :raises UsageError: it is decided already.
        """
        self._abort(error_code)

    def fetch(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
        timeout: float = DEFAULT_TIMEOUT_MS,
        max_redirects: int | None = None,
        max_retries: int | None = None,
    ) -> Response:
        """Ask the upstream, from the application's process; decides nothing.

        :param timeout: milliseconds; 0 for none.
        :raises FetchError: there was no response, or not in time.
        :raises UsageError: the options make no request.
        """
        response: Response = self._fetch(
            url=url,
            method=method,
            headers=headers,
            post_data=post_data,
            timeout=timeout,
            max_redirects=max_redirects,
            max_retries=max_retries,
        )
        return response


class AsyncRoute(BaseRoute):
    """A route as asyncio and Twisted tests see it.

    A decision counts from the call on; awaiting it is customary, not needed.
    """

    @property
    def request(self) -> AsyncRequest:
        """The request, as changed so far."""
        request: AsyncRequest = self._request()
        return request

    def fulfill(
        self,
        *,
        status: int | None = None,
        headers: HeadersArgument | None = None,
        body: str | bytes | None = None,
        json: Any = None,
        path: str | os.PathLike[str] | None = None,
        content_type: str | None = None,
        response: BaseResponse | None = None,
    ) -> Awaitable[None]:
        """Answer the application; see :meth:`Route.fulfill`."""
        done: Awaitable[None] = self._fulfill(
            status=status,
            headers=headers,
            body=body,
            json=json,
            path=path,
            content_type=content_type,
            response=response,
        )
        return done

    def continue_(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
    ) -> Awaitable[None]:
        """Send the request upstream; see :meth:`Route.continue_`."""
        done: Awaitable[None] = self._continue(
            url=url, method=method, headers=headers, post_data=post_data
        )
        return done

    def fallback(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
    ) -> Awaitable[None]:
        """Leave the request to the next handler; see :meth:`Route.fallback`."""
        done: Awaitable[None] = self._fallback(
            url=url, method=method, headers=headers, post_data=post_data
        )
        return done

    def abort(self, error_code: str = "failed") -> Awaitable[None]:
        """Fail the request; see :meth:`Route.abort`."""
        done: Awaitable[None] = self._abort(error_code)
        return done

    def fetch(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
        timeout: float = DEFAULT_TIMEOUT_MS,
        max_redirects: int | None = None,
        max_retries: int | None = None,
    ) -> Awaitable[AsyncResponse]:
        """Ask the upstream; see :meth:`Route.fetch`."""
        response: Awaitable[AsyncResponse] = self._fetch(
            url=url,
            method=method,
            headers=headers,
            post_data=post_data,
            timeout=timeout,
            max_redirects=max_redirects,
            max_retries=max_retries,
        )
        return response


def _shown(fetched: Promise[ResponseState], views: Views) -> Promise[Any]:
    shown: Promise[Any] = Promise(on_cancel=fetched.cancel)

    def done(promise: Promise[ResponseState]) -> None:
        if promise.error is not None:
            shown.reject(promise.error)
        else:
            shown.resolve(views.response(promise.value))

    fetched.watch(done)
    return shown
