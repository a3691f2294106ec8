"""The files of the dashboard, read once and held in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from attrs import frozen

START_PAGE = "/"
_START_FILE = "/index.html"

CONTENT_TYPES: Mapping[str, bytes] = {
    "html": b"text/html; charset=utf-8",
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
}
"""The content types by extension; files with other extensions are not served."""


@frozen
class Page:
    """One file.

    :param etag: the entity tag, a hash of the content.
    """

    content: bytes
    content_type: bytes
    etag: str


def load_pages() -> dict[str, Page]:
    """Read all files.

    :returns: files by URL path. Requests are answered from it alone, so that their paths never
        reach the file system.
    """
    static = files("trafficmock.dashboard") / "static"
    pages = dict(_walk(static, ""))
    pages[START_PAGE] = pages.pop(_START_FILE)
    return pages


def _walk(directory: Traversable, prefix: str) -> Iterator[tuple[str, Page]]:
    for item in directory.iterdir():
        path = f"{prefix}/{item.name}"
        if item.is_dir():
            yield from _walk(item, path)
            continue
        content_type = CONTENT_TYPES.get(item.name.rpartition(".")[2])
        if content_type is not None:
            content = item.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
            yield path, Page(content, content_type, tag)
