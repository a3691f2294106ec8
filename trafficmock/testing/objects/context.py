"""The context of a test, and what carries it on the test's own requests."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from trafficmock.testing.errors import UsageError
from trafficmock.testing.objects import sent_contexts
from trafficmock.testing.self_attachment import is_attached
from trafficmock.testing.session.session import Session
from trafficmock.testing.session.traffic_context import application_of
from trafficmock.wire.payloads.application_origins import CalledServers


class BaseContext:
    """The part of a test's mocks that concerns its context."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def id(self) -> str | None:
        """The context of this test, 32 hexadecimal characters; ``None`` where it has none.

        Only this test can decide requests that carry it, or that the application sends because of
        such a request: parallel tests may have routes for the same URLs.
        """
        return self._session.context.id

    @property
    def headers(self) -> dict[str, str]:
        """Headers with the context, for the test's own requests: ``baggage``, ``traceparent``."""
        session = self._session
        if session.context.id is not None and not session.ended:
            sent_contexts.watch(session.context.id)
            session.called = self._called
        return session.context.headers

    def _called(self) -> CalledServers | UnsetType:
        """Return the servers to which clients of the test sent its context."""
        info = self._session.info
        origins = sent_contexts.take(self._session.context.id)
        if not origins:
            return UNSET
        return CalledServers(origins, application_of(info.origins, info.base_url), is_attached())

    @property
    def cookie(self) -> dict[str, Any]:
        """The cookie that carries the context, with the keys of WebDriver's ``add_cookie``."""
        return self._session.context.cookie

    @property
    def proxy(self) -> dict[str, str] | None:
        """A proxy for the browser of this test: ``browser.new_context(proxy=trafficmock.proxy)``.

        It is a port that adds the context to requests for the application. The dict has
        ``server`` and, with a token, ``username`` and ``password``; ``None`` without a context.

        :raises UsageError: no proxy was asked for; ``RoutingError``: it could not be opened.
        """
        session = self._session
        if session.context.id is not None and not session.info.has_browser_proxy:
            raise UsageError(
                "this test has no proxy for a browser: ask for it by browser_proxy=True in "
                "mocks(), by trafficmock_browser_proxy = True in a test case, or in pytest by the "
                "fixture trafficmock_browser_proxy"
            )
        return session.browser_proxy()

    def _cookies(self, origins: tuple[str, ...]) -> list[dict[str, Any]]:
        urls = origins or self._session.info.origins
        if not urls:
            raise UsageError(
                "the application's origin is not known: give it, as in tag(context, "
                "'http://localhost:3000'), or set --base-url or the ini value trafficmock_origins"
            )
        return self._session.context.cookies_for(urls)
