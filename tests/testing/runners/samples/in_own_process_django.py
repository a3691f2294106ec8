"""A Django application in the process of its tests, by both of its test clients."""

from typing import Any

import django
import httpx
import pytest
import requests
from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.test import AsyncClient, Client, RequestFactory
from django.urls import path

URL = "https://prices.example/v1"
WAYS = ("with_requests", "with_httpx", "with_async_httpx")

settings.configure(SECRET_KEY="k", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], DATABASES={})
django.setup()


def with_requests(_: HttpRequest) -> JsonResponse:
    return JsonResponse(requests.get(URL, timeout=20).json())


def with_httpx(_: HttpRequest) -> JsonResponse:
    return JsonResponse(httpx.get(URL).json())


async def with_async_httpx(_: HttpRequest) -> JsonResponse:
    async with httpx.AsyncClient() as client:
        return JsonResponse((await client.get(URL)).json())


urlpatterns = [path(way, globals()[way]) for way in WAYS]


@pytest.mark.parametrize("n", range(2))
@pytest.mark.parametrize("way", WAYS)
def test_client(trafficmock: Any, way: str, n: int) -> None:
    trafficmock.route(URL, lambda route: route.fulfill(json={"n": n}))
    with trafficmock.expect_request(URL):
        assert Client().get(f"/{way}").json() == {"n": n}
    assert [each.url for each in trafficmock.requests()] == [URL]


@pytest.mark.asyncio
@pytest.mark.parametrize("n", range(2))
@pytest.mark.parametrize("way", WAYS)
async def test_async_client(trafficmock: Any, way: str, n: int) -> None:
    await trafficmock.route(URL, lambda route: route.fulfill(json={"n": n}))
    assert (await AsyncClient().get(f"/{way}")).json() == {"n": n}


def test_request_factory(trafficmock: Any) -> None:
    trafficmock.mock(URL, json={"n": 3})
    assert b'"n": 3' in with_requests(RequestFactory().get("/")).content


@pytest.mark.trafficmock(strict=True)
def test_refused(trafficmock: Any) -> None:
    with pytest.raises(requests.RequestException, match="not mocked"):
        Client().get("/with_requests")
    trafficmock.take_errors()
