"""Entity tags: a client that has the newest answer need not be sent it again (RFC 9110)."""

import re

_TAG = re.compile(r'"[\x21\x23-\x7e\x80-\xff]*"')  # without W/: weak comparison ignores it

_OWN_TAG = re.compile(r'"?(?P<start>[^-"]*)-(?P<revision>[0-9a-f]{1,13})"?')


def etag(*, start: str, revision: int) -> str:
    """Write the entity tag of one version of an answer.

    :param start: what tells this process from the one before, whose revisions were others.
    :param revision: grows with each change of anything that the answer shows.
    """
    return f'"{start}-{revision:x}"'


def is_current(if_none_match: str | None, tag: str) -> bool:
    """Tell whether the client has what ``tag`` names, by weak comparison.

    :param if_none_match: the header, lines joined; ``*`` means anything at all.
    """
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or tag in _TAG.findall(if_none_match)


def revision_of(tag: str, start: str) -> int | None:
    """Read the revision out of a tag that :func:`etag` made.

    :returns: ``None`` for anything else, also for a tag of another start.
    """
    found = _OWN_TAG.fullmatch(tag)
    return int(found["revision"], 16) if found and found["start"] == start else None
