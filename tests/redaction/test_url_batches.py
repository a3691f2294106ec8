"""Secrets of many URLs at a time."""

import base64

from hypothesis import example, given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.redaction.samples import KEY, samples
from trafficmock.redaction import secret_names
from trafficmock.redaction.redactor import Redactor
from trafficmock.redaction.url_batches import UrlBatches

REDACTOR = Redactor(key=KEY)

PLAIN = [f"http://api{number}.test/t1/items/{number}abcdef?page={number}" for number in range(9)]

CODED = base64.b64encode(b'{"token": "abcdef"}').decode().rstrip("=")

PIECES = st.one_of(
    st.sampled_from(sorted(secret_names.SHORT_NAMES | secret_names.QUERY_NAMES)),
    st.sampled_from(
        [
            *(
                "http://",
                "https://",
                "//",
                "/",
                "?",
                "&",
                "=",
                "#",
                "@",
                ":",
                "+",
                "%3D",
                "%",
                "\n",
            ),
            *("token", "max_tokens", "Password", "a.test", "u:p", "next", "12", "a-b_c.d~e"),
            *("Bearer abcdefgh", "Bearer+abcdefgh", "sk-0123456789abcdef", "eyJabcdef.eyJabcdef"),
            *(
                CODED,
                '{"pin":"1"}',
                "%7B%22pin%22%3A%221%22%7D",
                "cookie: a=b",
                "\u017fecret",
                "\ud800",
            ),
        ]
    ),
    st.text(max_size=20),
)
URLS = st.lists(PIECES, max_size=9).map("".join)


def batches(redactor: Redactor) -> UrlBatches:
    return UrlBatches(redactor, redactor.url)


class UrlBatchTests(SynchronousTestCase):
    """Each URL becomes what it becomes alone."""

    @given(URLS)
    @example("http://a.test/?key=abc")
    @example(f"http://a.test/?q={CODED}")
    def test_hint(self, url: str) -> None:
        """A URL between plain ones, of which a search in all has to tell."""
        self.assertEqual(
            batches(REDACTOR)([*PLAIN, url, *PLAIN]), [*PLAIN, REDACTOR.url(url), *PLAIN]
        )

    @given(st.lists(URLS, max_size=20))
    def test_any(self, urls: list[str]) -> None:
        """Any URLs, in their order."""
        self.assertEqual(list(batches(REDACTOR)(urls)), [REDACTOR.url(each) for each in urls])

    def test_samples(self) -> None:
        """The samples, with the fields that they add."""
        for sample in samples():
            if sample["what"] != "url":
                continue
            redactor = Redactor.of(sample.get("added"), KEY)
            with self.subTest(**sample):
                given_url = sample["given"]
                shown = batches(redactor)([given_url, *PLAIN])
                self.assertEqual(shown[0], redactor.url(given_url))

    def test_added(self) -> None:
        """What a user adds is no hint of ours, and is found."""
        for word in ("query:page", "regex:items", "regex:abc"):
            redactor = Redactor.of([word], KEY)
            shown = batches(redactor)(PLAIN)
            self.assertEqual(shown, [redactor.url(each) for each in PLAIN])
            self.assertNotEqual(shown, PLAIN)

    def test_off(self) -> None:
        """Without redaction, URLs stay as they are."""
        urls = ["http://u:p@a.test/?token=b"] * 9
        self.assertEqual(batches(Redactor.of("off"))(urls), urls)
