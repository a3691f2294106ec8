"""``trafficmock show``, and the two kinds of page that it writes."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from tests.command.recorded_proxy import CommandTestCase
from tests.support.processes.interrupts import WITH_SIGINT


class ShowTests(CommandTestCase):
    """One entry."""

    def page(self, *words: str) -> str:
        done = self.run_command("show", *words)
        self.assertEqual((done.status, done.err), (0, ""))
        self.check_clean(done)
        return done.out

    def test_json_entry(self) -> None:
        """``--json`` is the proxy's own answer, for requests and for WebSockets."""
        for entry_id, path in (("hop-1", "/api/history/hop-1"), ("chat-1", "/api/ws/chat-1")):
            self.assertEqual(json.loads(self.page(entry_id, "--json")), self.proxy.get(path))

    def test_newest(self) -> None:
        """Without an id it is the newest, of requests and WebSockets."""
        self.assertEqual(self.page(), self.page("chat-1"))

    def test_hostile(self) -> None:
        """Escape sequences are shown, not sent, wherever they were recorded."""
        for words in (["evil"], ["evil", "--full"], ["evil", "--json"], ["chat"]):
            self.page(*words)
        self.assertEqual(self.page("evil").count("\\x1b]0;owned"), 4)

    def test_unknown(self) -> None:
        """An unknown id is status 1; so is a beginning that several have, which are named."""
        done = self.run_command("show", "no\x1bpe")
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertEqual(
            done.err,
            "trafficmock show: nothing with the id no\\x1bpe is recorded. "
            "No report or HAR has the name no\\x1bpe either.\n",
        )
        done = self.run_command("show", "hop")
        self.assertEqual(done.status, 1)
        self.assertIn("hop is the beginning of hop-3, hop-2, hop-1", done.err)
        self.assertEqual(self.run_command("show", "").status, 1)


class SavedTests(CommandTestCase):
    """A report, or a HAR."""

    def test_wrong(self) -> None:
        """What is neither is named; an id with no such file is still an id."""
        place = Path(self.mktemp())
        place.mkdir()
        (place / "a.har").write_text("{}")
        for path, why in (
            (place, "is no report: "),
            (place / "a.har", "is no HAR: it is not JSON with a list log.entries"),
            (place / "none.har", "cannot be read: No such file or directory"),
        ):
            done = self.run_command("show", str(path))
            self.assertEqual((done.status, done.out), (1, ""), path)
            self.assertIn(why, done.err)
            self.assertNotIn("Traceback", done.err)

    def test_misspelt(self) -> None:
        """Without a proxy, the name of a report that does not exist is said to be none."""
        done = self.run_command("show", "repport", "--proxy-url", "http://127.0.0.1:9")
        self.assertEqual((done.status, done.out), (3, ""))
        self.assertIn("no proxy answers at http://127.0.0.1:9", done.err)
        self.assertIn("No report or HAR has the name repport either.", done.err)

    def test_served(self) -> None:
        """The page of a HAR is served at the address that is printed, until Ctrl-C."""
        self.assertIn('"url":"http://h.test/"', self.served("http://h.test/"))

    def test_secrets(self) -> None:
        """The page of a HAR has marks for secrets, or what it was, if this is asked for."""
        url = "http://h.test/?token=zq7Xw2Lk9Vb4Np&user=ada"
        page = self.served(url)
        self.assertNotIn("zq7Xw2Lk9Vb4Np", page)
        self.assertIn("token=[redacted:", page)
        self.assertNotIn("=ada", self.served(url, "--redact", "query:user"))
        self.assertIn(url, self.served(url, "--redact", "off"))

    def served(self, url: str, *words: str) -> str:
        """Return the page of a HAR with one request."""
        path = Path(self.mktemp())
        path.write_text(json.dumps({"log": {"entries": [{"request": {"url": url}}]}}))
        command = [*WITH_SIGINT, sys.executable, "-m", "trafficmock", "show", str(path), *words]
        shown = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(shown.wait, 20)
        self.addCleanup(shown.kill)
        assert shown.stdout is not None
        with shown.stdout:
            said = shown.stdout.readline()
            address = said.split(" is at ")[1].split()[0]
            with urlopen(address, timeout=10) as answer:  # noqa: S310 - our own address
                page: str = answer.read().decode()
            shown.send_signal(signal.SIGINT)
            self.assertEqual(shown.wait(20), 130)
        return page
