"""Finds the parts in which a URL differs from a glob, for messages about refused requests."""

import functools
import re

from attrs import frozen

from trafficmock.matching.patterns.glob_resolution import needs_base, resolve
from trafficmock.matching.patterns.glob_tokens import GlobError, PlainToken, tokenize, write_out
from trafficmock.matching.starred_text import matches_starred
from trafficmock.matching.url_parts import DEFAULT_PORTS, UrlParts

MOST_READ = 2048
"""The most cached globs."""

MOST_VARIANTS = 16
"""The most combinations of the alternatives in braces of one part."""

LONGEST_GLOB = 2000
"""The most characters of a glob that is compared."""

_WHOLE = re.compile(
    r"(?P<scheme>[^/?#]*)://(?P<host>\[[^\]/]*\]|[^:/?#]*)(?::(?P<port>[^/?#]*))?"
    r"(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?",
    re.DOTALL,
)
_TAIL = re.compile(r"(?P<tail>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?", re.DOTALL)


@frozen
class _Part:
    """The part of a glob for one part of the URL.

    :param text: as the glob has it, or the default.
    :param variants: the texts between the stars, one list for each combination of the
        alternatives in braces.
    """

    name: str
    text: str
    variants: tuple[tuple[str, ...], ...]

    def wants(self, text: str) -> bool:
        return any(matches_starred(pieces, text) for pieces in self.variants)


def differing_parts(glob: str, parts: UrlParts) -> list[tuple[str, str, str]]:
    """Return the parts of a URL that do not match a glob.

    Here a single star stands for any text, also with slashes, so a difference only in slashes is
    not found.

    :param glob: as a test wrote it; a relative one is compared with the path.
    :param parts: the parts of a request's URL.
    :returns: some of ``scheme``, ``host``, ``port``, ``path`` and ``query``, in this order, with
        the text in the URL and that in the glob; empty if no difference is found.
    """
    tail = f"{parts.scheme}://{parts.authority}{parts.path}"
    there = {
        "scheme": parts.scheme,
        "host": parts.host,
        "port": parts.port,
        "path": parts.path,
        "query": parts.query,
        "tail": tail,
    }
    there["written port"] = "" if parts.authority == parts.host else parts.port
    differing = [part for part in _read(glob) if not part.wants(there[part.name])]
    if differing and _whole(glob).wants((parts.path if needs_base(glob) else tail) + parts.query):
        # A star of one part also matches the parts after it.
        return []
    return [_described(part, there) for part in differing]


def path_of(glob: str) -> str:
    """Return the part of a glob for the path; the whole glob if it cannot be split."""
    paths = (part.text for part in _read(glob) if part.name in ("path", "tail"))
    return next(paths, glob)


def _described(part: _Part, there: dict[str, str]) -> tuple[str, str, str]:
    if part.name == "written port":
        # A URL never has the port that is the default of its scheme.
        return "port", "" if part.wants(there["port"]) else there["port"], part.text
    if part.name != "tail":
        return part.name, there[part.name], part.text
    # Stars at the beginning stand for the host, so the difference is in the path.
    found = there["path" if part.text.startswith(("**/", "*/")) else "tail"]
    return "path", found, part.text


@functools.lru_cache(maxsize=MOST_READ)
def _whole(glob: str) -> _Part:
    known = len(glob) <= LONGEST_GLOB
    resolved = glob if needs_base(glob) else resolve(glob)
    return _Part("whole", resolved, _variants(resolved) if known else ())


@functools.lru_cache(maxsize=MOST_READ)
def _read(glob: str) -> tuple[_Part, ...]:
    """Split a glob into parts, without those that it does not determine."""
    if len(glob) > LONGEST_GLOB:
        return ()
    relative = needs_base(glob)
    resolved = glob if relative else resolve(glob)
    found = _WHOLE.fullmatch(resolved)
    if found is not None:
        texts = _with_defaults(found.groupdict())
    elif (found := _TAIL.fullmatch(resolved)) is not None:
        texts = {"path" if relative else "tail": found["tail"], "query": found["query"]}
    else:
        return ()
    if texts["query"] is None:
        # A star at the end of the path matches a query too; else the URL must have no query.
        path = next(text for name, text in texts.items() if name in ("path", "tail"))
        texts["query"] = "*" if path is None or path.endswith("*") else ""
    return tuple(
        _Part(name, text, variants)
        for name, text in texts.items()
        if text is not None and (variants := _variants(text))
    )


def _with_defaults(texts: dict[str, str | None]) -> dict[str, str | None]:
    """Add the default port and path to the parts of a glob for whole URLs."""
    host, path = texts["host"] or "", texts["path"]
    if host.endswith("**"):
        # `**` may match beyond the host.
        return texts | {"port": None, "path": f"*{path}" if path else "*"}
    if written := texts.pop("port"):
        return _ordered(texts, "written port", written, path or "/")
    return _ordered(texts, "port", DEFAULT_PORTS.get(texts["scheme"] or ""), path or "/")


def _ordered(
    texts: dict[str, str | None], name: str, port: str | None, path: str
) -> dict[str, str | None]:
    first = {part: texts[part] for part in ("scheme", "host")}
    return {**first, name: port, "path": path, "query": texts["query"]}


def _variants(text: str) -> tuple[tuple[str, ...], ...]:
    try:
        written_out = write_out(tokenize(text), MOST_VARIANTS)
    except GlobError:
        return ()
    return tuple(_pieces(tokens) for tokens in written_out or ())


def _pieces(tokens: tuple[PlainToken, ...]) -> tuple[str, ...]:
    pieces = [""]
    for token in tokens:
        if isinstance(token, str):
            pieces[-1] += token
        else:
            pieces.append("")
    return tuple(pieces)
