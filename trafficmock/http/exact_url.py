"""URLs for treq that stay as they are written."""

from __future__ import annotations

from hyperlink import EncodedURL


class ExactUrl(EncodedURL):
    """A URL that treq passes on as it is written.

    hyperlink refuses hosts like ``my_service`` and ``[::1]``, and rewrites some queries.

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
