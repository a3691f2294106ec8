"""``trafficmock ca``."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

from cryptography import x509
from twisted.trial.unittest import SynchronousTestCase

from trafficmock import cli
from trafficmock.command.ca import main, summary
from trafficmock.command.exit_status import CommandError


def ca(words: list[str]) -> str:
    """Give what ``trafficmock ca`` prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        main(words)
    return output.getvalue()


class CaTests(SynchronousTestCase):
    """What it prints."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp()).absolute()
        self.words = ["--ca-dir", str(self.directory)]

    def test_path(self) -> None:
        """``path`` makes the authority and says where its certificate is."""
        path = ca(["path", *self.words])
        self.assertEqual(path, f"{self.directory / 'ca.pem'}\n")
        self.assertTrue((self.directory / "ca.pem").exists())

    def test_default(self) -> None:
        """Without the option it is kept with the user's data."""
        self.patch(os, "environ", {"XDG_DATA_HOME": str(self.directory)})
        self.assertEqual(ca(["path"]), f"{self.directory}/trafficmock/ca/ca.pem\n")

    def test_show(self) -> None:
        """``show`` is the certificate itself, ``--text`` what OpenSSL says of it."""
        pem = ca(["show", *self.words])
        self.assertEqual(pem, (self.directory / "ca.pem").read_text())
        text = ca(["show", "--text", *self.words])
        argv = ["openssl", "x509", "-noout", "-fingerprint", "-sha256"]
        message = subprocess.run(argv, input=pem, capture_output=True, text=True, check=True)
        self.assertIn(message.stdout.strip().partition("=")[2], text)
        self.assertEqual(text, summary(x509.load_pem_x509_certificate(pem.encode())))
        self.assertIn("Valid until: ", text)

    def test_hints(self) -> None:
        """``hints`` names files that are there, for every runtime that is promised."""
        text = ca(["hints", *self.words])
        for runtime in ("curl", "requests", "httpx", "aiohttp", "Node", "Go", "Ruby", "Java"):
            self.assertIn(runtime, text)
        for runtime in ("git", "PHP", ".NET", "browsers"):
            self.assertIn(f"{runtime}", text)
        for name in ("ca.pem", "bundle.pem", "truststore.p12", "php"):
            self.assertIn(str(self.directory / name), text)
            self.assertTrue((self.directory / name).exists())
        self.assertNotIn("{", text)

    def test_wrong(self) -> None:
        """What is said wrongly ends with what is allowed, what cannot be done with why."""
        for words in ([], ["what"], ["path", "more"], ["--text"], ["path", "--text"]):
            self.assertRaises(CommandError, main, words)
        message = io.StringIO()
        self.patch(sys, "stderr", message)
        self.directory.touch()
        self.assertEqual(self.assertRaises(SystemExit, cli.main, ["ca"]).code, 2)
        words = ["ca", "path", *self.words]
        self.assertEqual(self.assertRaises(SystemExit, cli.main, words).code, 1)
        self.assertEqual(len(message.getvalue().splitlines()), 2)
