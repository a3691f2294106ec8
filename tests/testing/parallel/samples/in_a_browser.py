"""Run by pytest-playwright: the contexts that an application gets from the pages of a test."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ProxySettings

from tests.support.processes.node_parts import chromium
from trafficmock.testing.launch import Proxy
from trafficmock.testing.sync import TrafficMock

MEMBER = "trafficmock.test="
COOKIE = "trafficmock_test="


class Handler(BaseHTTPRequestHandler):
    """Answers with the baggage that came, else with the cookie."""

    def do_GET(self) -> None:
        body = (self.headers["baggage"] or self.headers["cookie"] or "none").encode()
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="session")
def trafficmock_origins(app: str) -> tuple[str, ...]:
    return (app,)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": chromium(), "args": ["--no-sandbox", "--disable-gpu"]}


def shown(page: Page, app: str) -> str:
    page.goto(app)
    return page.inner_text("body")


def test_page_first(page: Page, app: str, trafficmock: TrafficMock) -> None:
    assert shown(page, app) == f"{MEMBER}{trafficmock.id}"
    asked = "fetch('/').then((answer) => answer.text())"
    assert page.evaluate(asked) == f"{MEMBER}{trafficmock.id}"
    answer = page.request.get(app)
    assert answer.text() == f"{MEMBER}{trafficmock.id}"


def test_mocks_first(trafficmock: TrafficMock, app: str, new_context: Callable[..., Any]) -> None:
    assert shown(new_context().new_page(), app) == f"{MEMBER}{trafficmock.id}"
    # Another origin gets nothing.
    assert shown(new_context().new_page(), app.replace("127.0.0.1", "localhost")) == "none"


@pytest.fixture
def own_page(browser: Browser) -> Iterator[Page]:
    """Open a context as a project's own fixture does."""
    with browser.new_context() as context:
        yield context.new_page()


def test_own_context(trafficmock: TrafficMock, own_page: Page, app: str) -> None:
    assert shown(own_page, app) == f"{MEMBER}{trafficmock.id}"


def test_own_proxy(
    trafficmock: TrafficMock, browser: Browser, trafficmock_proxy: Proxy, app: str
) -> None:
    password = trafficmock_proxy.token or ""
    proxy: ProxySettings = {
        "server": trafficmock_proxy.url,
        "username": "own",
        "password": password,
    }
    with pytest.warns(UserWarning, match="a proxy of its own") as said:
        context = browser.new_context(proxy=proxy)
    assert len(said) == 1
    with context:
        assert shown(context.new_page(), app) == f"{COOKIE}{trafficmock.id}"


@pytest.fixture(scope="module")
def early(browser: Browser) -> Iterator[BrowserContext]:
    """Open a context before the test, for several of them."""
    with browser.new_context() as context:
        yield context


def test_early_context(early: BrowserContext, trafficmock: TrafficMock, app: str) -> None:
    page = early.new_page()
    assert shown(page, app) == "none"
    trafficmock.tag(early)
    assert shown(page, app) == f"{COOKIE}{trafficmock.id}"


def test_without_mocks(page: Page, app: str) -> None:
    assert shown(page, app) == "none"
    assert "new_context" not in vars(page.context.browser)
