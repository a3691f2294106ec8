"""One cell of the table: a client, a scheme, and the ways to ask and to look."""

import json
import urllib.request
from collections.abc import Sequence
from typing import Any

from attrs import define, field

from tests.support.processes.child_process import Child

HOST = "upstream.test"
NOWHERE = "nowhere.invalid"
"""Strict mode allows it, and nobody knows its name (RFC 6761)."""


class NotAvailableError(Exception):
    """The client itself cannot do it."""


class FailedError(Exception):
    """
    The client says that the request failed.

    :param causes: the names of its error and of the causes of that.
    """

    def __init__(self, text: str, causes: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.causes = causes


@define
class Cell:
    """
    :param client: its name, and its id at the proxy.
    :param scheme: ``http`` or ``https``.
    :param child: its program.
    :param port: of the upstream server, for this scheme.
    :param proxy_url: of the proxy.
    """

    client: str
    scheme: str
    child: Child
    port: int
    proxy_url: str
    _asked: int = field(default=0, init=False)

    def url(self, path: str, scheme: str | None = None, host: str = HOST) -> str:
        """Make the URL of a path of the upstream server, or of one that is not there."""
        return f"{scheme or self.scheme}://{host}:{self.port}{path}"

    def ask(
        self,
        method: str,
        path: str,
        *headers: tuple[str, str],
        body: str = "-",
        mode: str = "http",
        scheme: str | None = None,
        host: str = HOST,
    ) -> dict[str, Any]:
        """
        Let the client make a request.

        :raises FailedError: it says that it failed.
        :raises NotAvailableError: it cannot make it.
        """
        lines = "\x1f".join(f"{name}:{value}" for name, value in headers)
        order = "\t".join([mode, method, self.url(path, scheme, host), lines, body])
        stdin = self.child.process.stdin
        assert stdin is not None
        stdin.write(f"{order}\n".encode())
        stdin.flush()
        answer = self.child.announced()
        if "na" in answer:
            raise NotAvailableError(answer["na"])
        if "error" in answer:
            raise FailedError(answer["error"], answer.get("causes", ()))
        return answer

    def echo(self, method: str, path: str, *headers: tuple[str, str], **more: Any) -> Any:
        """Let the client make a request that is echoed; give what the server saw."""
        answer = self.ask(method, path, *headers, **more)
        assert answer["status"] == 200, answer
        return json.loads(answer["text"])

    def look(self, path: str) -> dict[str, Any]:
        """Ask REST."""
        with urllib.request.urlopen(self.proxy_url + path, timeout=10) as answer:  # noqa: S310 - loopback
            found: dict[str, Any] = json.load(answer)
            return found

    def entries(self, ending: str) -> list[dict[str, Any]]:
        """List this client's history entries whose URL ends so, newest first."""
        found = self.look(f"/api/history?clientId={self.client}")["entries"]
        start = f"{self.scheme}://"
        return [
            one
            for one in found
            if one["request"]["url"].endswith(ending) and one["request"]["url"].startswith(start)
        ]


def values(answer: dict[str, Any], name: str) -> list[str]:
    """List the values of a header, those of a joined line apart."""
    return [
        part.strip()
        for key, value in answer["headers"]
        if key.lower() == name
        for part in value.split(",")
    ]
