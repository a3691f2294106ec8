"""What a process says of URLs: messages of errors, lines of its log, ``repr``."""

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.test_redactor import NAMES, SECRETS
from tests.testing.fakes import request
from trafficmock.core.har.har_lookup import HarLookup
from trafficmock.core.har.match_rules import HarQuestion
from trafficmock.core.http.nearest_entry import missing_entry
from trafficmock.matching import PatternCache
from trafficmock.matching.url_parts import shown_url
from trafficmock.redaction.process_redactor import (
    process_redactor,
    redact_process,
    safe_url,
    share_marks,
)
from trafficmock.redaction.redactor import Redactor
from trafficmock.testing.session.observation.request_state import RequestState
from trafficmock.wire.payloads.serialized_har import SerializedHar


def missing(recorded: str, asked: str) -> str:
    """Give the error for a request to a URL that is not that of the only entry of a HAR."""
    entry = {"request": {"method": "GET", "url": recorded}, "response": {}}
    lookup = HarLookup.of(SerializedHar("some.har", [Raw(json.dumps(entry).encode())]))
    return missing_entry(lookup, HarQuestion(asked, "GET", [], b""), PatternCache())


class MessageTests(SynchronousTestCase):
    """No message has the secrets of a URL."""

    @given(SECRETS, NAMES)
    def test_urls(self, secret: str, name: str) -> None:
        """Neither in the user information, nor in the query, nor in the fragment."""
        url = f"https://u:{secret}@h.test/a?{name}={secret}&page=1#token={secret}"
        state = RequestState("r", "shop", request(url), 1)
        for text in (
            safe_url(url),
            shown_url(url, 1000),
            shown_url(f"no url {url}", 1000),
            str(state),
            repr(state),
            missing(url, f"{url}&{name}={secret}"),
        ):
            self.assertNotIn(secret, text)
        self.assertIn("page=1", safe_url(url))

    @given(SECRETS)
    def test_added(self, secret: str) -> None:
        """Nor what a user adds, in the URLs and the header lines of messages."""
        before = process_redactor()
        self.addCleanup(redact_process, before)
        redact_process(before.adding(["query:shop", "header:x-customer"]))
        url = f"https://h.test/a?shop={secret}&page=1"
        for text in (
            safe_url(url),
            shown_url(url, 1000),
            shown_url(f"no url {url}", 1000),
            repr(RequestState("r", "shop", request(url), 1)),
            missing(url, f"{url}&shop={secret}"),
            *map(
                process_redactor().text,
                (
                    f"GET {url}: it does not answer",
                    f"GET /a?shop={secret} is refused",
                    f"/a?page=1&shop={secret}, and more",
                    f"X-Customer: {secret}\r\naccept: a",
                    f"{{'x-customer': '{secret}'}} differs",
                    f"the header (x-customer: {secret})",
                ),
            ),
        ):
            self.assertNotIn(secret, text)
        self.assertEqual(safe_url("/?shop=a b").count("redacted"), 1)
        self.assertEqual(process_redactor().text("shop=a, customer: b"), "shop=a, customer: b")

    def test_marks_of_a_proxy(self) -> None:
        """A test worker makes the marks of its proxy, and redacts what it redacts, too."""
        before = process_redactor()
        self.addCleanup(redact_process, before)
        redact_process(before.adding(["query:shop"]))
        proxy = Redactor.of(["query:customer"])
        url = "https://h.test/?token=a&shop=b&customer=c"
        share_marks(**proxy.described())
        self.assertEqual(safe_url(url), proxy.adding(["query:shop"]).url(url))
        exact = Redactor.of("off")
        share_marks(**exact.described())
        self.assertEqual(process_redactor().key, exact.key)
        self.assertEqual(safe_url(url).count("redacted"), 3)

    def test_marks_of_a_later_proxy(self) -> None:
        """Its fields of a kind that is not known here are left out."""
        before = process_redactor()
        self.addCleanup(redact_process, before)
        share_marks(["trailer:x-customer", "query:customer"], "00" * 16)
        self.assertEqual(safe_url("/?customer=a").count("redacted"), 1)

    def test_marks_of_a_proxy_again(self) -> None:
        """A process whose tests connect one after the other adds the fields of the proxy once."""
        before = process_redactor()
        self.addCleanup(redact_process, before)
        redact_process(before.adding(["query:shop"]))
        proxy = Redactor.of(["header:x-customer", "query:shop", "regex:k[0-9]+"])
        for _ in range(3):
            share_marks(**proxy.described())
        fields = [*before.described()["fields"], "query:shop", "header:x-customer", "regex:k[0-9]+"]
        self.assertEqual(process_redactor().described()["fields"], fields)

    @given(st.text())
    def test_any_text(self, text: str) -> None:
        """Any text is a URL here; one key serves the whole process."""
        self.assertEqual(safe_url(text), process_redactor().url(text))
