"""Applications of several frameworks in the process of their tests, with several clients."""

import asyncio
import json
import threading
from typing import Any
from urllib.request import urlopen

import aiohttp
import httpx
import pytest
import requests
from fastapi import FastAPI
from fastapi.testclient import TestClient
from flask import Flask

URL = "https://prices.example/v1"
WAYS = ("with_httpx", "with_async_httpx", "with_aiohttp", "with_urllib", "with_requests", "in_task")
api = FastAPI()
site = Flask(__name__)


@api.get("/with_httpx")
def with_httpx() -> Any:
    return httpx.get(URL).json()


@api.get("/with_async_httpx")
async def with_async_httpx() -> Any:
    async with httpx.AsyncClient() as client:
        return (await client.get(URL)).json()


@api.get("/with_aiohttp")
async def with_aiohttp() -> Any:
    async with aiohttp.ClientSession() as client, client.get(URL) as answer:
        return await answer.json()


@api.get("/with_urllib")
def with_urllib() -> Any:
    with urlopen(URL) as answer:
        return json.load(answer)


@api.get("/with_requests")
@site.get("/")
def with_requests() -> Any:
    return requests.get(URL, timeout=20).json()


@api.get("/in_task")
async def in_task() -> Any:
    return await asyncio.create_task(with_async_httpx())


@api.get("/blocking")
async def blocking() -> Any:
    return with_requests()


@pytest.fixture(scope="module")
def portal() -> Any:
    with TestClient(api) as client:
        yield client


@pytest.mark.parametrize("n", range(2))
@pytest.mark.parametrize("way", [*WAYS, "blocking"])
def test_client(trafficmock: Any, portal: Any, way: str, n: int) -> None:
    trafficmock.route(URL, lambda route: route.fulfill(json={"n": n}))
    with trafficmock.expect_request(URL):
        assert TestClient(api).get(f"/{way}").json() == {"n": n}
    assert portal.get(f"/{way}").json() == {"n": n}


@pytest.mark.parametrize("n", range(2))
def test_flask_in_threads(trafficmock: Any, n: int) -> None:
    trafficmock.route(URL, lambda route: route.fulfill(json={"n": n}))
    found: list[Any] = [site.test_client().get("/").json]
    thread = threading.Thread(target=lambda: found.append(site.test_client().get("/").json))
    thread.start()
    thread.join()
    assert found == [{"n": n}] * 2


@pytest.mark.asyncio
@pytest.mark.parametrize("way", WAYS)
async def test_asgi(trafficmock: Any, way: str) -> None:
    await trafficmock.route(URL, lambda route: route.fulfill(json={"way": way}))
    transport = httpx.ASGITransport(api)
    async with httpx.AsyncClient(transport=transport, base_url="http://app") as client:
        assert (await client.get(f"/{way}")).json() == {"way": way}


@pytest.mark.asyncio
async def test_blocked_loop(trafficmock: Any) -> None:
    await trafficmock.route(URL, lambda route: route.fulfill(json={}))
    with pytest.raises(requests.RequestException):
        await blocking()
    (error,) = await trafficmock.take_errors()
    assert "blocked for 1 s" in str(error)
    assert "in_own_process.py" in str(error)


@pytest.mark.asyncio
async def test_blocked_loop_with_data(trafficmock: Any) -> None:
    await trafficmock.mock(URL, json={"n": 1})
    assert await blocking() == {"n": 1}


@pytest.mark.trafficmock(strict=True)
def test_refused(trafficmock: Any) -> None:
    with pytest.raises(requests.RequestException, match="not mocked"):
        with_requests()
    trafficmock.take_errors()
