"""A Django application: ``/way/NAME?who=…`` asks in that way, ``/ways`` lists them.

It is one of ASGI where the variable ``ASGI`` is set, else of WSGI.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path

from tests.interop.clients.python.ways.blocking_ways import EARLY, LATER, WAYS, address, ask

started: set[asyncio.Task[None]] = set()


async def after_the_response(url: str) -> str:
    async def later() -> None:
        await asyncio.sleep(LATER)
        await asyncio.to_thread(ask, url)

    task = asyncio.create_task(later())
    started.add(task)
    task.add_done_callback(started.discard)
    return "to be asked"


ASYNC = {
    "sync-to-async": sync_to_async(ask),
    "to-thread": lambda url: asyncio.to_thread(ask, url),
    "task-after-the-response": after_the_response,
}


def middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Ask before there is a view."""

    def handle(request: HttpRequest) -> Any:
        if request.path == "/way/middleware":
            return HttpResponse(ask(address("middleware", request.GET["who"])))
        return get_response(request)

    return handle


def ways(_: HttpRequest) -> JsonResponse:
    EARLY.start()
    named = [*WAYS, "middleware", "streamed-body", *(ASYNC if os.environ.get("ASGI") else ())]
    return JsonResponse(named, safe=False)


def way(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponse(WAYS[name](address(name, request.GET["who"])))


async def way_async(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponse(await ASYNC[name](address(name, request.GET["who"])))


def streamed_body(request: HttpRequest) -> StreamingHttpResponse:
    """Ask while the body is sent, when the view has returned."""
    url = address("streamed-body", request.GET["who"])

    def body() -> Iterator[str]:
        yield "it said "
        yield ask(url)

    return StreamingHttpResponse(body())


def _async(name: str) -> object:
    return path(f"way/{name}", way_async, {"name": name})


urlpatterns = [
    path("ways", ways),
    path("way/streamed-body", streamed_body),
    *map(_async, ASYNC),
    path("way/<name>", way),
]
settings.configure(
    ALLOWED_HOSTS=["*"],
    MIDDLEWARE=[f"{__name__}.middleware"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="of a test",
)
application = get_asgi_application() if os.environ.get("ASGI") else get_wsgi_application()
