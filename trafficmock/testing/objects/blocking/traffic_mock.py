# Written from async_traffic_mock.py by tools/blocking_api.py: do not edit.
"""The calls with which a test mocks and observes traffic."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from trafficmock.matching import GlobError
from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.har.har_routes import HarMode, HarOptions, NotFound, route_from_har
from trafficmock.testing.keywords import methods_check_keywords
from trafficmock.testing.objects.blocking.expectations import Expectation
from trafficmock.testing.objects.blocking.request import Request
from trafficmock.testing.objects.blocking.response import Response
from trafficmock.testing.objects.blocking.route_handle import RouteHandle
from trafficmock.testing.objects.blocking.stream import Stream
from trafficmock.testing.objects.call_place import place_of_call, warn_of_capture
from trafficmock.testing.objects.context import BaseContext
from trafficmock.testing.objects.sent_options import Delay, sent_arguments
from trafficmock.testing.promise import Promise, mapped
from trafficmock.testing.session.arguments.allow_patterns import Allowed
from trafficmock.testing.session.arguments.callables import check_handler
from trafficmock.testing.session.arguments.flags import check_flag
from trafficmock.testing.session.arguments.headers import HeadersArgument
from trafficmock.testing.session.arguments.match_conditions import MatchArguments, WaitArguments
from trafficmock.testing.session.arguments.url_matchers import (
    Matcher,
    Names,
    UrlMatcher,
    check_http,
    make_matcher,
)
from trafficmock.testing.session.handlers.http_routes import RouteEntry
from trafficmock.testing.session.handlers.stream_route import AwaitedStream
from trafficmock.testing.session.observation.waiting import Timeout, milliseconds
from trafficmock.testing.session.session import Session
from trafficmock.wire.inbound import Behavior
from trafficmock.wire.payloads.answer import FaultKind
from trafficmock.wire.payloads.refused_request import UnmatchedRequest
from trafficmock.wire.payloads.serialized_har import Content, UpdateMode
from trafficmock.wire.waits.wait_messages import WaitKind

if TYPE_CHECKING:
    from trafficmock.testing.objects.blocking.caller import Caller


@methods_check_keywords
class TrafficMock(BaseContext):
    """The mocks of a blocking test, and the requests of the attached applications.

    A call sends its message at once, and is done when the proxy has acknowledged it. Calls raise
    ``UsageError`` for an invalid argument, and ``ConnectionLostError`` if the connection is lost
    or the proxy does not answer.
    """

    def __init__(self, adapter: Caller, session: Session) -> None:
        super().__init__(session)
        self._adapter = adapter

    def tag(self, context: Any, *origins: str) -> None:
        """Add the cookie with the context of this test to a browser context of Playwright.

        Later requests of its pages to the origins carry the context.

        :param context: the ``BrowserContext``.
        :param origins: the origins of the application, such as ``http://localhost:3000``; by
            default those of ``--base-url`` or ``trafficmock_origins``.
        :raises UsageError: no origin is known.
        """
        context.add_cookies(self._cookies(origins))

    def route(
        self,
        url: UrlMatcher,
        handler: Callable[..., Any],
        *,
        method: Names = None,
        client_id: Names = None,
        times: float | None = None,
        required: bool | None = None,
        **match: Unpack[MatchArguments],
    ) -> RouteHandle:
        """Register a handler for matching requests, before those registered earlier.

        :param url: a glob, a ``re.Pattern``, a predicate over the URL, a URLPattern, a mapping
            with the keys ``url``, ``method`` and ``client_id``, or ``None`` for any URL.
        :param handler: called as ``handler(route, request)`` or ``handler(route)``; may be async.
        :param method: the method or methods that match, in any case; by default all.
        :param client_id: the client id or ids of the applications that match; by default all.
        :param times: how many requests the handler gets before it is removed; by default no limit.
        :param required: fail the test if no request meets the route; by default as for the run.
        :param match: conditions on more than the URL: ``match_query``, ``match_headers``,
            ``match_json``, ``match_form`` and ``match_graphql``, see :class:`.MatchArguments`.
        :returns: the route, with the requests that met it.
        :raises HandlerSignatureError: the handler does not take these arguments.
        :raises GlobError: the glob is invalid: its braces, or it ends within the host.
        """
        matcher = self._matcher(url, method, client_id, match)
        place = place_of_call(self._session.info.root)

        def register() -> Promise[RouteEntry]:
            check_handler(handler, "(route, request)", most=2)
            must = self._must(required=required)
            return self._session.http.route(matcher, handler, times, place=place, required=must)

        return self._route(register)

    def mock(
        self,
        url: UrlMatcher,
        *,
        method: Names = None,
        client_id: Names = None,
        times: float | None = None,
        required: bool | None = None,
        # options begin: mock
        status: int | None = None,
        status_text: str | None = None,
        headers: HeadersArgument | None = None,
        body: str | bytes | None = None,
        json: Any = None,
        path: str | os.PathLike[str] | None = None,
        content_type: str | None = None,
        trailers: HeadersArgument | None = None,
        chunks: Iterable[str | bytes] | None = None,
        delay: Delay = None,
        fault: FaultKind | None = None,
        after: int | None = None,
        rate: int | None = None,
        sequence: Sequence[int | Mapping[str, Any]] | None = None,
        # options end
        **match: Unpack[MatchArguments],
    ) -> RouteHandle:
        """Answer matching requests with a fixed response, which the proxy keeps and sends.

        It is faster than a handler, and works while the test is stopped at a breakpoint.

        :param url: as in :meth:`route`; so are ``method``, ``client_id``, ``times``, ``required``
            and the arguments that begin with ``match_``.
        :param status: 200 to 999. By default 200.
        :param status_text: the reason phrase, in latin-1 without control characters. By default the
            standard one, such as ``Not Found`` for 404.
        :param headers: all headers; values are converted to text.
        :param body: the body; text is sent as UTF-8. By default none.
        :param json: a value that is sent as JSON, in the place of ``body``.
        :param path: a file whose content is the body; it is read by the call, and its extension
            gives the content type.
        :param content_type: the value of ``content-type``, in the place of any other. By default by
            ``json`` or ``path``.
        :param trailers: header fields that follow the body (RFC 9110 section 6.5), which is sent in
            chunks then.
        :param chunks: the body in pieces, which are sent one by one, in the place of ``body``; not
            with ``fault`` or ``rate``.
        :param delay: milliseconds or a ``timedelta`` from each request on, after which the proxy
            answers; with ``chunks`` the time between two of them.
        :param fault: how the answer breaks: ``connection_reset``, ``empty_response``,
            ``truncated``, ``malformed_chunk`` or ``stall``.
        :param after: the bytes of the body before the fault. By default half of it for
            ``truncated``, none for the others.
        :param rate: the bytes of the body that the application gets in a second; not with
            ``fault``. By default all at once.
        :param sequence: the answers to one request after the other, in the place of a single one:
            statuses, and these options by name, or ``abort`` with an error code. The last one is
            repeated.
        :returns: the route, with the requests that met it.
        :raises RoutingError: the proxy cannot send this response.
        """
        matcher = self._matcher(url, method, client_id, match)
        check_http(matcher)
        place = place_of_call(self._session.info.root)
        options = sent_arguments("mock", locals())
        http, must = self._session.http, self._must(required=required)
        return self._route(
            lambda: http.route(matcher, None, times, place=place, options=options, required=must)
        )

    def stream(
        self,
        url: UrlMatcher,
        *,
        method: Names = None,
        client_id: Names = None,
        required: bool | None = None,
        # options begin: stream
        status: int | None = None,
        status_text: str | None = None,
        headers: HeadersArgument | None = None,
        content_type: str | None = None,
        trailers: HeadersArgument | None = None,
        # options end
        **match: Unpack[MatchArguments],
    ) -> Stream:
        """Answer the next matching request by a stream, whose body the test writes.

        The first call of the result waits for the request, which is its ``request``.

        :param url: as in :meth:`route`; so are ``method``, ``client_id``, ``required`` and the
            arguments that begin with ``match_``.
        :param status: 200 to 999. By default 200.
        :param status_text: the reason phrase, in latin-1 without control characters. By default the
            standard one, such as ``Not Found`` for 404.
        :param headers: all headers; values are converted to text.
        :param content_type: the value of ``content-type``.
        :param trailers: header fields that follow the body (RFC 9110 section 6.5), which is sent in
            chunks then.
        :raises UsageError: HTTP cannot carry a value.
        """
        matcher = self._matcher(url, method, client_id, match)
        check_http(matcher)
        place = place_of_call(self._session.info.root)
        options = sent_arguments("stream", locals())
        awaited = AwaitedStream(self._session.client.link, f"for {matcher} ({place})")
        adapter, must, http = self._adapter, self._must(required=required), self._session.http
        return adapter.wait_for(
            lambda: mapped(
                http.route(
                    matcher,
                    awaited,
                    1,
                    lambda routed, done: awaited.begin(routed, options, done),
                    place,
                    stream=options,
                    required=must,
                ),
                lambda _: Stream(awaited, adapter),
            )
        )

    def _must(self, *, required: bool | None) -> bool:
        if required is None:
            return self._session.info.required
        check_flag("required", required)
        return required

    def unroute(
        self,
        url: UrlMatcher,
        handler: Callable[..., Any] | None = None,
        *,
        method: Names = None,
        client_id: Names = None,
        **match: Unpack[MatchArguments],
    ) -> None:
        """Remove handlers of HTTP requests; the call is done when no later request reaches them.

        :param url: as it was given to :meth:`route`; so are ``method`` and ``client_id``.
        :param handler: the handler to remove; by default all with these arguments.
        """
        matcher = self._optional_matcher(url, method, client_id, match)
        return self._done(lambda: self._session.http.unroute(matcher, handler))

    def unroute_all(self, *, behavior: Behavior = "default") -> None:
        """Remove all handlers of HTTP requests.

        :param behavior: for handlers that still run: ``default`` sends their requests upstream,
            unless strict mode refuses them, ``wait`` waits until they return, ``ignoreErrors``
            ignores their errors from now on.
        """
        return self._done(lambda: self._session.http.unroute_all(behavior))

    def route_from_har(
        self,
        har: str | os.PathLike[str],
        *,
        url: UrlMatcher = None,
        not_found: NotFound = "abort",
        mode: HarMode | None = None,
        update: bool = False,
        update_content: Content = "attach",
        update_mode: UpdateMode = "minimal",
        redact: str | Iterable[str] | None = None,
        pace: float | None = None,
        match_on: str | Iterable[str] | None = None,
        ignore: str | Iterable[str] | None = None,
        in_order: bool = False,
        follow_redirects: bool = False,
        sequence: None = None,
    ) -> None:
        """Answer requests with the responses of a HAR file, or record one.

        :param har: the path; ``.zip`` is an archive of the HAR and its files.
        :param url: the requests that it answers, as in :meth:`route`; by default all.
        :param not_found: ``abort`` fails other requests, ``fallback`` passes them on.
        :param mode: when to fetch responses from upstream, and write them into the HAR at the end
            of a test that passed: ``none`` (default) never; ``once`` if there is no HAR yet;
            ``new`` for requests that it does not have, which are added; ``all`` for all requests,
            so that the HAR is written anew.
        :param update: the same as ``mode="all"``.
        :param update_content: ``attach`` writes bodies to files beside the HAR, ``embed`` into it.
        :param update_mode: ``full`` records times and sizes as well, ``minimal`` does not.
        :param redact: what is secret in a new HAR besides fields of known names, such as
            ``json:user.email``, or several; ``off`` writes all as it was.
        :param pace: the factor for the pauses between the pieces in which a recorded answer came:
            1 for the same ones. By default answers are sent at once.
        :param match_on: the parts of a request that have to be equal: ``method``, ``url`` or its
            parts ``scheme``, ``host``, ``port``, ``path`` and ``query``; ``body``, ``json``,
            ``form``, ``headers``, ``header:NAME``. By default the method, the URL, and of a
            ``POST`` the body.
        :param ignore: fields that need not be equal, such as ``json:meta.id``, ``query:nonce``,
            ``form:at``, ``header:x-request-id``.
        :param in_order: each entry answers one request, in their order; by default any number of
            them, and the first one answers of those that are alike.
        :param follow_redirects: the answer to a request is what its redirects lead to, as in
            Playwright; by default a redirect is an answer, and the application follows it.
        :param sequence: the older name of ``in_order``, which is refused.
        """
        place = place_of_call(self._session.info.root)
        if sequence is not None:
            raise UsageError("route_from_har: sequence is now in_order; write in_order=True")
        options = HarOptions(
            store=HarFile(har),
            url=url,
            not_found=not_found,
            mode=mode,
            update=update,
            update_content=update_content,
            update_mode=update_mode,
            redact=redact,
            pace=pace,
            match_on=match_on,
            ignore=ignore,
            in_order=in_order,
            follow_redirects=follow_redirects,
        )
        return self._done(lambda: route_from_har(self._session, options, place))

    def route_web_socket(
        self, url: UrlMatcher, handler: Callable[..., Any], *, client_id: Names = None
    ) -> None:
        """Register a handler that acts as the server of WebSockets that are opened from now on.

        :param url: as in :meth:`route`; globs may begin with ``ws://`` and ``wss://``.
        :param handler: called as ``handler(ws)``, plain or ``async``; see ``WebSocketRoute``.
        :param client_id: the client id of the application, or several; by default any.
        """
        place = place_of_call(self._session.info.root)

        def register() -> Promise[Any]:
            check_handler(handler, "(ws)")
            base = self._session.base_url
            matcher = make_matcher(url, client_id=client_id, base_url=base, websocket=True)
            return self._session.sockets.add(matcher, handler, place)

        return self._done(register)

    def strict(self, *, allow: Sequence[Allowed] = ()) -> None:
        """Refuse requests of this test that no route matches, from now on; they fail the test.

        :param allow: hosts (``auth.example``, ``*.example.com``, ``auth.example:9000``), URL globs
            and dicts of conditions (``url``, ``method``, ``client_id`` and those of
            :class:`.MatchArguments`) to let through, besides those that are allowed already.
        """
        return self._done(lambda: self._session.make_strict(allow))

    def unmatched(self) -> list[UnmatchedRequest]:
        """Return the requests that strict mode refused in this run and that no test owns.

        Each has ``method``, ``url``, ``client_id``, ``sender``, ``kind``, ``count``, ``at`` and
        ``last_at`` (epoch milliseconds), and ``message``. What frameworks send for themselves is
        not among them.
        """
        client = self._session.client
        return self._adapter.wait_for(
            lambda: mapped(client.unmatched(), lambda answer: answer.requests)
        )

    def expect_request(
        self,
        url_or_predicate: Any,
        *,
        timeout: Timeout = None,
        **match: Unpack[WaitArguments],
    ) -> Expectation[Request]:
        """Expect a request within a ``with`` block; ``value`` has it.

        :param url_or_predicate: a glob, a ``re.Pattern``, a URLPattern, a mapping as in
            :meth:`route`, or a predicate over the request, plain or ``async``.
        :param timeout: milliseconds or a ``timedelta``; 0 for none, 30 s by default. After it,
            the wait raises ``WaitTimeoutError``.
        :param match: with a URL: ``method``, ``client_id`` and conditions, as in :meth:`route`.
        """
        return self._expect("request", url_or_predicate, timeout, match)

    def expect_response(
        self,
        url_or_predicate: Any,
        *,
        timeout: Timeout = None,
        **match: Unpack[WaitArguments],
    ) -> Expectation[Response]:
        """Expect the response to a request that comes after this call; see :meth:`expect_request`.

        A predicate gets the response.
        """
        return self._expect("response", url_or_predicate, timeout, match)

    def wait_for_request(
        self,
        url_or_predicate: Any,
        *,
        timeout: Timeout = None,
        **match: Unpack[WaitArguments],
    ) -> Request:
        """Wait for a request that comes after this call; see :meth:`expect_request`."""
        return self.expect_request(url_or_predicate, timeout=timeout, **match).value

    def wait_for_response(
        self,
        url_or_predicate: Any,
        *,
        timeout: Timeout = None,
        **match: Unpack[WaitArguments],
    ) -> Response:
        """Wait for the response to a request that comes after this call."""
        return self.expect_response(url_or_predicate, timeout=timeout, **match).value

    def requests(
        self,
        url: UrlMatcher = None,
        *,
        method: Names = None,
        client_id: Names = None,
        **match: Unpack[MatchArguments],
    ) -> list[Request]:
        """Return the requests of all applications since the test began, oldest first.

        Requests that carry the context of another test are left out. A warning says so where the
        proxy's history does not keep everything (``--history-capture``).

        :param url: as in :meth:`route`; so are ``method``, ``client_id`` and the arguments that
            begin with ``match_``.
        """
        matcher = self._optional_matcher(url, method, client_id, match)
        observation, show = self._session.observation, self._adapter.show
        found = self._adapter.wait_for(
            lambda: mapped(observation.requests(matcher), lambda found: list(map(show, found)))
        )
        warn_of_capture(self._session)
        return found

    def take_errors(self) -> list[BaseException]:
        """Return and forget the errors so far, so that they do not fail the test at its end."""
        return self._adapter.wait_for(self._session.take_errors)

    def _route(self, register: Callable[[], Promise[RouteEntry]]) -> RouteHandle:
        adapter, session = self._adapter, self._session
        return adapter.wait_for(
            lambda: mapped(register(), lambda entry: RouteHandle(session, entry, adapter))
        )

    def _done(self, function: Callable[[], Promise[Any]]) -> None:
        return self._adapter.wait_for(lambda: mapped(function(), lambda _: None))

    def _expect(
        self, kind: WaitKind, wanted: Any, timeout: Timeout, match: WaitArguments
    ) -> Expectation[Any]:
        within = milliseconds(timeout)
        return Expectation(
            self._adapter,
            lambda: self._session.observation.expect(kind, wanted, within, match),
        )

    def _matcher(
        self, url: UrlMatcher, method: Names, client_id: Names, match: MatchArguments
    ) -> Matcher:
        base_url = self._session.base_url
        try:
            return make_matcher(
                url, method=method, client_id=client_id, base_url=base_url, match=match
            )
        except GlobError as error:
            # The fault is in the test's glob: frames of the glob's parser do not help.
            raise error.with_traceback(None) from None

    def _optional_matcher(
        self, url: UrlMatcher, method: Names, client_id: Names, match: MatchArguments
    ) -> Matcher | None:
        if url is None and method is None and client_id is None and not match:
            return None
        return self._matcher(url, method, client_id, match)


def finish(mocks: TrafficMock) -> list[BaseException]:
    """End a test and return the errors that are left."""
    return mocks._adapter.wait_for(mocks._session.finish)  # noqa: SLF001 - for those who run tests
