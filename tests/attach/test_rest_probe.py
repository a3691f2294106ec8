"""Asking a proxy."""

import json

from twisted.trial.unittest import SynchronousTestCase

from tests.attach.listening import answering
from trafficmock.attach.rest_probe import (
    AttachError,
    NoAnswerError,
    certificate_authority,
    check_health,
)

PEM = b"-----BEGIN CERTIFICATE-----\nx\n"
NOBODY = "http://127.0.0.1:2"


class HealthTests(SynchronousTestCase):
    """Whether a proxy is there."""

    def test_there(self) -> None:
        """A proxy that says so is there."""
        with answering({"/health": (200, b'{"ok": true}')}) as url:
            check_health(url)

    def test_not_there(self) -> None:
        """A proxy that does not answer is an error that says how to start one."""
        error = self.assertRaises(AttachError, check_health, NOBODY)
        self.assertIn("trafficmock serve", str(error))
        self.assertIn(
            "must look like", str(self.assertRaises(AttachError, check_health, "ftp://x"))
        )

    def test_another(self) -> None:
        """What is no proxy of ours is said to be none."""
        for answer in ((200, b"<html>"), (404, b""), (200, b'["ok"]'), (200, b'{"ok": 1}')):
            with answering({"/health": answer}) as url:
                error = self.assertRaises(AttachError, check_health, url)
                self.assertIn("no trafficmock proxy", str(error))


class AuthorityTests(SynchronousTestCase):
    """The certificate of the proxy there."""

    def test_given(self) -> None:
        """It is taken as it is; a proxy without one is no forward proxy."""
        with answering({"/ca.pem": (200, PEM)}) as url:
            self.assertEqual(certificate_authority(url), PEM)
        for answers in ({}, {"/ca.pem": (200, b"<html>")}):
            with answering(answers) as url:
                self.assertIsNone(certificate_authority(url))

    def test_refused(self) -> None:
        """What the proxy says of its trouble is passed on."""
        body = json.dumps({"error": "ca_unavailable", "message": "cannot write /x"}).encode()
        for sent, message in ((body, "cannot write /x"), (b"[]", "Internal Server Error")):
            with answering({"/ca.pem": (500, sent)}) as url:
                error = self.assertRaises(AttachError, certificate_authority, url)
                self.assertIn(f"/ca.pem answers 500: {message}", str(error))

    def test_nobody(self) -> None:
        """Nobody there is an error of its own."""
        self.assertRaises(NoAnswerError, certificate_authority, NOBODY)
