"""Entity tags and ``If-None-Match`` (RFC 9110 sections 8.8.3 and 13.1.2)."""

import re

_TAG = re.compile(r'"[\x21\x23-\x7e\x80-\xff]*"')  # without W/: weak comparison ignores it

_OWN_TAG = re.compile(r'"?(?P<start>[^-"]*)-(?P<revision>[0-9a-f]{1,13})"?')


def etag(*, start: str, revision: int) -> str:
    """Return the entity tag of one version of a response.

    :param start: identifies this process: another one counts revisions anew.
    :param revision: a number that grows with each change of the response's content.
    """
    return f'"{start}-{revision:x}"'


def is_current(if_none_match: str | None, tag: str) -> bool:
    """Return whether the client already has the version ``tag``, by weak comparison.

    :param if_none_match: the header, its lines joined; ``*`` matches every tag.
    """
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match)


def revision_of(tag: str, start: str) -> int | None:
    """Return the revision in a tag that :func:`etag` made.

    :param tag: with or without its quotes.
    :returns: ``None`` for any other text, and for a tag of another ``start``.
    """
    found = _OWN_TAG.fullmatch(tag)
    return int(found["revision"], 16) if found and found["start"] == start else None
