"""Loads pages of the servers that send requests in many ways."""

from __future__ import annotations

import contextlib
import json
from contextlib import ExitStack
from http.client import IncompleteRead
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from tests.interop.clients.python.test_frameworks import preloaded
from tests.interop.clients.python.ways.owners import SECONDS
from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import REPOSITORY

_REFUSED = 500
"""The status of a page whose own request was refused."""


def start(
    stack: ExitStack, name: str, python: str, proxy_url: str, words: tuple[str, ...], **env: str
) -> tuple[str, list[str]]:
    """Start a server with the preload.

    :param stack: ends it.
    :param name: of the process, for messages.
    :param python: the interpreter.
    :param words: what serves, see ``served``.
    :param env: more variables of the process.
    :returns: its URL and the ways in which its pages send requests.
    """
    command = [python, "-m", "tests.interop.clients.python.served", *words]
    variables = preloaded(proxy_url)
    variables["PYTHONPATH"] += f":{REPOSITORY}"
    child = Child.start(name, command, env={**variables, **env}, cwd=REPOSITORY)
    stack.callback(child.stop)
    page = f"http://127.0.0.1:{child.announced()['port']}"
    with build_opener(ProxyHandler({})).open(f"{page}/ways", timeout=SECONDS) as answer:
        ways: list[str] = json.load(answer)
    return page, ways


def load(url: str, headers: dict[str, str]) -> None:
    """Load a page; that nobody's request is refused as ambiguous may be its error.

    A body that is being streamed then breaks off.

    :raises HTTPError: the page has another error.
    """
    request = Request(url, headers=headers)  # noqa: S310 - loopback
    try:
        with (
            contextlib.suppress(IncompleteRead),
            build_opener(ProxyHandler({})).open(request, timeout=SECONDS) as answer,
        ):
            answer.read()
    except HTTPError as error:
        error.close()
        if error.code != _REFUSED:
            raise
