"""Mocks with a coding that the body lacks, for applications behind the forward proxy."""

import gzip
import json
import uuid
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

from twisted.trial.unittest import SynchronousTestCase

from tests.testing.shared_app import shared_app
from trafficmock.testing import sync

CODINGS = ("br", "zstd", "gzip, br", "x-unknown", "gzip", "deflate")


def har(url: str, coding: str) -> dict[str, Any]:
    """Make a HAR with one text, whose header names a coding."""
    content = {"text": "plain", "size": 5, "mimeType": "text/plain"}
    headers = [{"name": "content-encoding", "value": coding}]
    response = {"status": 200, "statusText": "OK", "headers": headers, "content": content}
    request = {"method": "GET", "url": url, "headers": []}
    return {"log": {"entries": [{"request": request, "response": response}]}}


class ForwardedTests(SynchronousTestCase):
    """What a client of the forward proxy gets; the rows say the same for the Node agent."""

    def setUp(self) -> None:
        self.proxy = shared_app().proxy.url
        self.opener = build_opener(ProxyHandler({"http": self.proxy}))

    def get(self, url: str) -> tuple[bytes, str | None]:
        with self.opener.open(url, timeout=60) as response:
            return response.read(), response.headers["content-encoding"]

    def test_left_out(self) -> None:
        """A coding that the body lacks is left out, of a handler, a fixed answer and a HAR."""
        with sync.mocks(self.proxy) as mocks:
            for coding in CODINGS:
                headers = {"content-encoding": coding}
                handled, fixed, recorded = (
                    f"http://coded.test/{uuid.uuid4().hex}" for _ in range(3)
                )

                def handler(route: Any, _: Any, headers: dict[str, str] = headers) -> None:
                    route.fulfill(headers=headers, body="plain")

                path = Path(self.mktemp())
                path.write_text(json.dumps(har(recorded, coding)))
                mocks.route(handled, handler)
                mocks.mock(fixed, headers=headers, body="plain")
                mocks.route_from_har(path, url=recorded)
                for url in (handled, fixed, recorded):
                    self.assertEqual(self.get(url), (b"plain", None), coding)

    def test_kept(self) -> None:
        """A coding that the body has stays."""
        coded = gzip.compress(b"plain")
        url = f"http://coded.test/{uuid.uuid4().hex}"
        with sync.mocks(self.proxy) as mocks:
            mocks.mock(url, headers={"content-encoding": "gzip"}, body=coded)
            self.assertEqual(self.get(url), (coded, "gzip"))
