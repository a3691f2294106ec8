# Written from async_route.py by tools/blocking_api.py: do not edit.
"""The first argument of a route's handler (Playwright's ``Route``)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trafficmock.testing.keywords import methods_check_keywords
from trafficmock.testing.objects.blocking.request import Request
from trafficmock.testing.objects.blocking.response import Response
from trafficmock.testing.objects.blocking.stream import Stream
from trafficmock.testing.objects.given_bodies import is_parts, pour
from trafficmock.testing.objects.sent_options import Delay, sent_arguments
from trafficmock.testing.promise import Promise, mapped
from trafficmock.testing.session.arguments.headers import HeadersArgument
from trafficmock.testing.session.arguments.request_overrides import PostData
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions
from trafficmock.testing.session.handlers.routed_request import RoutedRequest
from trafficmock.testing.session.handlers.stream_route import AwaitedStream
from trafficmock.testing.session.observation.waiting import Timeout, milliseconds
from trafficmock.wire.payloads.answer import FaultKind

if TYPE_CHECKING:
    from trafficmock.testing.objects.blocking.caller import Caller


@methods_check_keywords
class Route:
    """A request that a handler has to decide, in blocking tests.

    A handler makes one decision: ``fulfill``, ``continue_``, ``fallback`` or ``abort``; ``fetch``
    is none. A decision takes effect with the call.
    """

    def __init__(self, routed: RoutedRequest, adapter: Caller) -> None:
        self._routed = routed
        self._adapter = adapter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._routed.request}>"

    @property
    def request(self) -> Request:
        """The request, with the changes of earlier handlers."""
        return self._adapter.show(self._routed.request)

    def fulfill(
        self,
        *,
        # options begin: fulfill
        status: int | None = None,
        status_text: str | None = None,
        headers: HeadersArgument | None = None,
        body: Any = None,
        json: Any = None,
        path: str | os.PathLike[str] | None = None,
        content_type: str | None = None,
        trailers: HeadersArgument | None = None,
        response: Response | None = None,
        delay: Delay = None,
        fault: FaultKind | None = None,
        after: int | None = None,
        rate: int | None = None,
        # options end
    ) -> None:
        """Answer the request with a response.

        :param status: 200 to 999. By default that of ``response``, else 200.
        :param status_text: the reason phrase, in latin-1 without control characters. By default
            that of ``response`` if its status is used, else the standard one.
        :param headers: all headers; values are converted to text. By default those of ``response``.
        :param body: the body; text is sent as UTF-8. The parts of an iterable or async iterable are
            sent one by one; the call is done when the last one has reached the application's
            process. By default that of ``response``, else none.
        :param json: a value that is sent as JSON, in the place of ``body``.
        :param path: a file whose content is the body; it is read by the call, and its extension
            gives the content type.
        :param content_type: the value of ``content-type``, in the place of any other. By default by
            ``json`` or ``path``.
        :param trailers: header fields that follow the body (RFC 9110 section 6.5), which is sent in
            chunks then. By default those of ``response``, with its body.
        :param response: a response of ``route.fetch()``; the other options replace its parts.
        :param delay: milliseconds or a ``timedelta`` after which the proxy sends the decision. The
            call returns at once. A test that ends before fails.
        :param fault: how the answer breaks: ``connection_reset``, ``empty_response``,
            ``truncated``, ``malformed_chunk`` or ``stall``.
        :param after: the bytes of the body before the fault. By default half of it for
            ``truncated``, none for the others.
        :param rate: the bytes of the body that the application gets in a second; not with
            ``fault``. By default all at once.
        :raises AlreadyHandledError: the request is decided already.
        :raises UsageError: both ``body`` and ``json`` are given, or HTTP cannot carry a value.
        :raises OSError: the file cannot be read.
        :raises TestEndedError: the test has ended.
        """
        parts, body = (body, None) if is_parts(body) else (None, body)
        options = sent_arguments("fulfill", locals())
        if parts is not None:
            return pour(self._stream(options), parts)
        return self._decide(lambda: self._routed.fulfill(options))

    def stream(
        self,
        *,
        # options begin: stream
        status: int | None = None,
        status_text: str | None = None,
        headers: HeadersArgument | None = None,
        content_type: str | None = None,
        trailers: HeadersArgument | None = None,
        # options end
    ) -> Stream:
        """Begin to answer the request; the test writes the body by the result, piece by piece.

        :param status: 200 to 999. By default 200.
        :param status_text: the reason phrase, in latin-1 without control characters. By default the
            standard one, such as ``Not Found`` for 404.
        :param headers: all headers; values are converted to text.
        :param content_type: the value of ``content-type``.
        :param trailers: header fields that follow the body (RFC 9110 section 6.5), which is sent in
            chunks then.
        :raises AlreadyHandledError: the request is decided already.
        :raises UsageError: HTTP cannot carry a value.
        """
        return self._stream(sent_arguments("stream", locals()))

    def _stream(self, options: dict[str, Any]) -> Stream:
        routed = self._routed
        awaited = AwaitedStream(routed.session.client.link, str(routed.request))
        self._adapter.heed(self._adapter.call(lambda: awaited.began(*routed.stream(options))))
        return Stream(awaited, self._adapter)

    def continue_(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
        # options begin: continue
        delay: Delay = None,
        fault: FaultKind | None = None,
        after: int | None = None,
        rate: int | None = None,
        # options end
    ) -> None:
        """Send the request upstream, with these changes and those of earlier fallbacks.

        :param url: another URL of the same scheme.
        :param method: another method.
        :param headers: replace all headers but those that the Fetch standard forbids to set.
        :param post_data: another body: bytes, text that is sent as UTF-8, or a value that is sent
            as JSON. ``None``, ``False`` and 0 keep the body; empty bytes or text remove it.
        :param delay: milliseconds or a ``timedelta`` after which the proxy sends the decision. The
            call returns at once. A test that ends before fails.
        :param fault: how the answer breaks: ``connection_reset``, ``empty_response``,
            ``truncated``, ``malformed_chunk`` or ``stall``.
        :param after: the bytes of the body before the fault. By default half of it for
            ``truncated``, none for the others.
        :param rate: the bytes of the body that the application gets in a second; not with
            ``fault``. By default all at once.
        :raises AlreadyHandledError: the request is decided already.
        :raises UsageError: the URL has another scheme, or a header value is not a string.
        :raises TestEndedError: the test has ended.
        """
        options = sent_arguments("continue", locals())
        return self._decide(
            lambda: self._routed.continue_(
                options, url=url, method=method, headers=headers, post_data=post_data
            )
        )

    def fallback(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: HeadersArgument | None = None,
        post_data: PostData = None,
    ) -> None:
        """Pass the request, with these changes, to the next handler that matches it.

        Without such a handler the request is sent upstream.

        :param url: as in :meth:`continue_`; so are the arguments after it.
        :raises AlreadyHandledError: the request is decided already.
        :raises UsageError: a header value is not a string.
        :raises TestEndedError: the test has ended.
        """
        self._adapter.call(
            lambda: self._routed.fallback(
                url=url, method=method, headers=headers, post_data=post_data
            )
        )
        return self._adapter.done()

    def abort(
        self,
        error_code: str | None = None,
        *,
        # options begin: abort
        delay: Delay = None,
        # options end
    ) -> None:
        """Fail the request with a network error.

        :param error_code: one of Playwright's codes, by default ``failed``. Codes that only
            browsers have, such as ``blockedbyclient``, count as ``failed``.
        :param delay: milliseconds or a ``timedelta`` after which the proxy sends the decision. The
            call returns at once. A test that ends before fails.
        :raises AlreadyHandledError: the request is decided already.
        :raises UsageError: the code is unknown.
        :raises TestEndedError: the test has ended.
        """
        options = {"abort": error_code or "failed", **sent_arguments("abort", locals())}
        return self._decide(lambda: self._routed.abort(options))

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
    ) -> Response:
        """Send the request upstream and return the response; this is no decision.

        The application's process sends it, or the proxy if the request came through it.

        :param url: another URL; relative ones are resolved against ``base_url``, else against the
            request's URL.
        :param method: another method.
        :param headers: replace all headers; here none is forbidden.
        :param post_data: another body, as in :meth:`continue_`.
        :param timeout: milliseconds or a ``timedelta``; 0 for none, 30 s by default.
        :param max_redirects: how many redirects are followed, by default 20; one more is an
            error. With 0, a redirect is returned as the response.
        :param max_retries: how often the request is repeated after a reset connection, by
            default never.
        :raises FetchError: no response came, or not within the timeout.
        :raises RequestSettledError: the application gave the request up meanwhile.
        :raises UsageError: an argument is invalid, or the request is decided already.
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
        return self._adapter.wait_for(
            lambda: mapped(self._routed.fetch(options), self._adapter.show)
        )

    def _decide(self, function: Callable[[], Promise[None]]) -> None:
        return self._adapter.settled(self._adapter.call(function))
