"""What Twisted tests see: where asyncio has coroutines, these give Deferreds.

So calls can be chained by ``addCallback`` as well as awaited.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred

from trafficmock.testing.objects.async_traffic_mock import AsyncTrafficMock
from trafficmock.testing.objects.request import AsyncRequest
from trafficmock.testing.objects.response import AsyncResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


def _deferred(method: Callable[..., Coroutine[Any, Any, Any]]) -> Any:
    @functools.wraps(method)
    def call(*args: Any, **options: Any) -> Deferred[Any]:
        return Deferred.fromCoroutine(method(*args, **options))

    return call


class DeferredRequest(AsyncRequest):
    """A request as Twisted tests see it."""

    all_headers = _deferred(AsyncRequest.all_headers)
    headers_array = _deferred(AsyncRequest.headers_array)
    header_value = _deferred(AsyncRequest.header_value)
    sizes = _deferred(AsyncRequest.sizes)


class DeferredResponse(AsyncResponse):
    """A response as Twisted tests see it."""

    body = _deferred(AsyncResponse.body)
    text = _deferred(AsyncResponse.text)
    json = _deferred(AsyncResponse.json)


class DeferredTrafficMock(AsyncTrafficMock):
    """The mocks of a Twisted test."""

    requests = _deferred(AsyncTrafficMock.requests)
