"""Entity tags: conditional requests by weak comparison."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from trafficmock.http.etags import etag, is_current, revision_of


class EtagTests(SynchronousTestCase):
    """If-None-Match against the tag of now."""

    def test_tags_differ(self) -> None:
        """Another revision and another process have other tags."""
        tags = {etag(start=start, revision=n) for start in ("a", "b") for n in (1, 11, 17)}
        self.assertEqual(len(tags), 6)

    def test_current(self) -> None:
        """The tag itself, its weak form, a list with it and ``*`` all match."""
        for given_tags in ('"a-1"', 'W/"a-1"', '"x", W/"a-1" ,"y"', '"x","a-1"', " * "):
            self.assertTrue(is_current(given_tags, '"a-1"'), given_tags)

    def test_not_current(self) -> None:
        """Another tag, a tag without quotes or in another's quotes, or none do not match."""
        for given_tags in (None, "", '"a-2"', "a-1", '"a-1', '"x,"a-1"x"', '"*"'):
            self.assertFalse(is_current(given_tags, '"a-1"'), given_tags)

    @given(st.text())
    def test_anything(self, text: str) -> None:
        """No header makes it raise."""
        is_current(text, '"a-1"')

    @given(st.integers(0, 2**50))
    def test_revision(self, revision: int) -> None:
        """A tag of this start gives its revision back, with or without quotes."""
        tag = etag(start="a1", revision=revision)
        self.assertEqual(revision_of(tag, "a1"), revision)
        self.assertEqual(revision_of(tag.strip('"'), "a1"), revision)
        self.assertIsNone(revision_of(tag, "b2"))

    @given(st.text())
    def test_no_revision(self, text: str) -> None:
        """Any other text has none."""
        self.assertIsNone(revision_of(f"{text}!", "a"))
        revision_of(text, "a")
