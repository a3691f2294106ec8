"""The settings of a test as arguments, the same for blocking, asyncio and Twisted tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from trafficmock.testing.session.arguments.allow_patterns import Allowed
from trafficmock.testing.session.traffic_context import Isolation


class TestOptions(TypedDict, total=False):
    """The settings of a test.

    :ivar title: the test's name in errors, in the history and on the dashboard; by default
        ``test``.
    :ivar file: the test's file, for the same places.
    :ivar base_url: the URL that relative globs are resolved against.
    :ivar isolation: with ``auto``, the default, the test has a context, with ``off`` it has none.
        With ``required`` it fails if one of its routes matches a request without the context.
    :ivar origins: the origins of the application, such as ``http://localhost:3000``, to which a
        browser sends the context. Those for its proxy may be globs: ``http://*.shop.test``.
    :ivar browser_proxy: open a port of the proxy for this test's browser, see ``proxy``.
    :ivar door: the older name of ``browser_proxy``.
    :ivar strict: refuse requests of the test that no route matches; they fail it at its end.
    :ivar required: fail the test at its end if no request meets one of its routes.
    :ivar allow: what strict mode lets through: hosts, URL globs, and dicts of conditions.
    """

    title: str
    file: str
    base_url: str | None
    isolation: Isolation
    origins: Sequence[str]
    browser_proxy: bool
    door: bool
    strict: bool
    required: bool
    allow: Sequence[Allowed]
