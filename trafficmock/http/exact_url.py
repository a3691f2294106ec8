"""URLs that treq sends as they are written, without normalisation."""

from __future__ import annotations

from hyperlink import EncodedURL


class ExactUrl(EncodedURL):
    """A URL that treq passes to its agent as it is written.

    treq parses URLs by hyperlink, which refuses hosts such as ``my_service`` and ``[::1]`` and
    rewrites some queries.

    :param text: an absolute URL in ASCII.
    """

    def __init__(self, text: str) -> None:
        super().__init__("http", "exact.invalid")
        self._text = text

    def to_uri(self) -> ExactUrl:
        """Return the URL itself, because it is a URI already."""
        return self

    def to_text(self, with_password: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002 - hyperlink's
        return self._text
