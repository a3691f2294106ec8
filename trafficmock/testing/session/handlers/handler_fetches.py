"""The upstream fetches of handlers, and those that are still open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ada_url
from attrs import define, field, frozen
from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import (
    FetchError,
    RequestSettledError,
    TestEndedError,
    UsageError,
)
from trafficmock.testing.promise import Promise
from trafficmock.testing.session.arguments import headers as hd
from trafficmock.testing.session.arguments import request_overrides
from trafficmock.testing.session.arguments.headers import HeadersArgument
from trafficmock.testing.session.arguments.request_overrides import PostData
from trafficmock.testing.session.observation.waiting import DEFAULT_TIMEOUT_MS
from trafficmock.wire.outbound import FetchDone
from trafficmock.wire.payloads.serialized_request import SerializedOverrides
from trafficmock.wire.payloads.serialized_response import (
    REQUEST_SETTLED,
    SerializedError,
    SerializedResponse,
)

if TYPE_CHECKING:
    from trafficmock.testing.session.ports import Cancel, ProxyLink


@frozen(kw_only=True)
class FetchOptions:
    """The arguments of ``fetch``.

    :param timeout: milliseconds; 0 for no limit.
    """

    url: str | None = None
    method: str | None = None
    headers: HeadersArgument | None = field(default=None, repr=False)
    post_data: PostData = field(default=None, repr=False)
    timeout: float = DEFAULT_TIMEOUT_MS
    max_redirects: int | None = None
    max_retries: int | None = None


def overrides_of(options: FetchOptions, base: str) -> SerializedOverrides | UnsetType:
    """Return the changes of a fetch; the proxy adds them to those so far, for this fetch alone.

    :param base: the URL that a relative one is resolved against.
    :raises UsageError: a count is negative, or the URL is not one of HTTP.
    """
    for name in ("max_redirects", "max_retries"):
        if (getattr(options, name) or 0) < 0:
            # With Playwright's spelling as well, so that a search finds both.
            camel = name.replace("_r", "R")
            raise UsageError(f"{name} ({camel}) must be 0 or more")
    return request_overrides.overrides(
        url=None if options.url is None else _absolute(options.url, base),
        method=options.method,
        headers=None if options.headers is None else hd.lenient(options.headers),
        post_data=options.post_data,
    )


def _absolute(url: str, base: str) -> str:
    try:
        parsed = ada_url.URL(url, base)
    except ValueError:
        raise request_overrides.invalid_url(url) from None
    if parsed.protocol not in ("http:", "https:"):
        raise UsageError(f"fetch takes the protocol http or https, not {parsed.protocol!r}")
    return parsed.href


@define(repr=False)
class HandlerFetches:
    """The open fetches of one test."""

    link: ProxyLink
    _waiting: dict[str, tuple[Promise[SerializedResponse], Cancel]] = field(factory=dict)

    def begin(self, request_id: str, timeout: float) -> tuple[str, Promise[SerializedResponse]]:
        """Open a fetch.

        :param timeout: milliseconds; 0 for no limit.
        :returns: the id to send to the proxy, and a promise of the response. It is rejected with
            ``FetchError`` at the timeout.
        """
        fetch_id = self.link.new_id()
        text = f"Timeout {timeout:g}ms exceeded while fetching for request {request_id}"
        promise: Promise[SerializedResponse] = Promise(
            on_cancel=lambda: self._fail(fetch_id, FetchError("the fetch was aborted"))
        )
        cancel: Cancel = _nothing
        if timeout > 0:
            cancel = self.link.call_later(
                timeout / 1000, lambda: self._fail(fetch_id, FetchError(text))
            )
        self._waiting[fetch_id] = promise, cancel
        return fetch_id, promise

    def done(self, message: FetchDone) -> None:
        """Settle a fetch by the proxy's answer; an answer after the timeout is ignored."""
        if message.ok and message.response is not UNSET:
            promise = self._take(message.fetch_id)
            if promise is not None:
                promise.resolve(message.response)
            return
        self._fail(message.fetch_id, _reason(message.error))

    def end(self, error: Exception | None = None) -> None:
        for fetch_id in list(self._waiting):
            self._fail(fetch_id, error or TestEndedError("the test ended during the fetch"))

    def _fail(self, fetch_id: str, error: Exception) -> None:
        promise = self._take(fetch_id)
        if promise is not None:
            promise.reject(error)

    def _take(self, fetch_id: str) -> Promise[SerializedResponse] | None:
        found = self._waiting.pop(fetch_id, None)
        if found is None:
            return None
        found[1]()
        return found[0]


def _reason(error: SerializedError | UnsetType) -> FetchError:
    if error is UNSET:
        return FetchError("the fetch failed")
    if error.code == REQUEST_SETTLED:
        return RequestSettledError("the application gave the request up during the fetch")
    return FetchError(error.message, error.code or None)


def _nothing() -> None:
    """Do nothing: a fetch without a timeout has no timer to cancel."""
