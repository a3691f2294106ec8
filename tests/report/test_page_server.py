"""One page for the browser of this machine."""

import threading
from http.client import HTTPConnection
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.report.page_server import SavedPageServer
from trafficmock.report.run_document import run_document
from trafficmock.report.saved_page import saved_page


class PageServerTests(SynchronousTestCase):
    """It answers with the page, and with the HARs beside it."""

    def setUp(self) -> None:
        directory = Path(self.mktemp())
        (directory / "har").mkdir(parents=True)
        (directory / "har" / "a.har").write_text("{}")
        (directory / "run.json").write_text("{}")
        self.server = SavedPageServer("<p>\N{LATIN SMALL LETTER U WITH DIAERESIS}</p>", directory)
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)

    def get(self, path: str, host: str = "localhost") -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.server.server_port, timeout=10)
        connection.request("GET", path, headers={"host": host})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def test_paths(self) -> None:
        """Nothing else of the directory is there."""
        self.assertEqual(self.get("/?x"), (200, "<p>ü</p>".encode()))
        self.assertEqual(self.get("/har/a.har"), (200, b"{}"))
        for path in ("/run.json", "/har/../run.json", "/har/b.har", "/har/%2e%2e/run.json"):
            self.assertEqual(self.get(path)[0], 404, path)

    def test_host(self) -> None:
        """A name that is not this machine's is refused."""
        self.assertEqual(self.get("/", "evil.example")[0], 421)
        self.assertEqual(self.get("/", "127.0.0.1:9")[0], 200)
        for host in ("", "127.0.0.1:", "localhost:65536", "localhost:99999999", "localhost, a"):
            self.assertEqual(self.get("/", host)[0], 421, host)

    def test_links(self) -> None:
        """A HAR that is a link is not given."""
        directory = self.server.directory
        assert directory is not None
        (directory / "har" / "link.har").symlink_to("../run.json")
        self.assertEqual(self.get("/har/link.har")[0], 404)

    def test_policy(self) -> None:
        """The policy of the page is a header, too, and a HAR may do nothing."""
        server = SavedPageServer(saved_page(run_document([])), None)
        self.addCleanup(server.server_close)
        self.assertRegex(server.policy, "^default-src 'none'.*script-src 'sha256-.*frame-ancestors")
        connection = HTTPConnection("127.0.0.1", self.server.server_port, timeout=10)
        connection.request("GET", "/har/a.har")
        policy = connection.getresponse().getheader("content-security-policy") or ""
        connection.close()
        self.assertIn("sandbox", policy)
