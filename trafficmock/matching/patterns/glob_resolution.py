"""Resolves globs to the form of whole, normalised URLs.

A test may write ``HTTP://Api.Test:80/ä`` or, with a base URL, ``/users/*``. A WHATWG URL
parser normalises the literal parts of the glob as it normalises the URLs of requests. The parts
with wildcards are replaced by placeholders before the parser runs (protocol 3, steps 0 to 4 of the
glob rules).
"""

import itertools
import re
from collections.abc import Iterator

import ada_url

from trafficmock.matching.patterns.unix_sockets import UNIX_SCHEME, normalised

AS_IS_PREFIXES = ("*", "about:", "data:", "chrome:", "edge:", "file:")
ABSOLUTE_SCHEMES = ("http:", "https:", "ws:", "wss:", UNIX_SCHEME)
OPAQUE_CHARACTERS = frozenset("*?{}\\")


def needs_base(glob: str) -> bool:
    """Return whether a glob is relative: then only the worker, which has the base URL, matches it.

    :param glob: the glob as the test wrote it.
    """
    if not glob or glob.startswith(AS_IS_PREFIXES):
        return False
    scheme, _, rest = glob.partition("/")
    absolute = scheme.lower() in ABSOLUTE_SCHEMES or _is_wild_scheme(scheme)
    return not (absolute and len(rest) > 1 and rest[0] == "/")


def resolve(glob: str, *, base_url: str | None = None, websocket: bool = False) -> str:
    """Resolve a glob to one that is matched against whole, absolute URLs.

    :param glob: the glob as the test wrote it.
    :param base_url: the base URL of the test, if it has one.
    :param websocket: whether the glob is for WebSocket URLs: an ``http(s)`` base URL becomes
        ``ws(s)``.
    :returns: the resolved glob; the glob itself if the URL parser refuses it.
    """
    if not glob or glob.startswith(AS_IS_PREFIXES):
        return glob
    glob = normalised(glob)
    if websocket and base_url is not None:
        base_url = _as_websocket(base_url)
    originals: dict[str, str] = {}
    stem = _unused(f"{glob} {base_url}")
    joined = "/".join(_hide_wildcards(glob.replace("\\\\?", "?"), originals, stem))
    parsed = _parse(joined, base_url)
    resolved, origin = (joined, "") if parsed is None else (parsed.href, parsed.origin)
    # One search for all: a glob may have thousands, and a base URL any length.
    placeholder = re.compile(rf"{stem}\d+z|http:")
    # Hosts and schemes are case-insensitive: normalised URLs have them in lower case.
    for found in placeholder.findall(origin):
        if found in originals:
            originals[found] = originals[found].lower()
    return placeholder.sub(lambda found: originals.pop(found[0], found[0]), resolved)


def _is_wild_scheme(component: str) -> bool:
    return component.endswith(":") and ("*" in component or "{" in component)


def _hide_wildcards(glob: str, originals: dict[str, str], stem: str) -> Iterator[str]:
    """Yield the components between slashes, with placeholders for the texts with wildcards."""
    placeholders = (f"{stem}{number}z" for number in itertools.count())

    def hide(text: str) -> str:
        if not text:
            return text
        originals[placeholder := next(placeholders)] = text
        return placeholder

    for number, component in enumerate(glob.split("/")):
        if number == 0 and _is_wild_scheme(component):
            originals["http:"] = component
            yield "http:"
        elif (number == 0 and component.endswith(":")) or OPAQUE_CHARACTERS.isdisjoint(component):
            yield component
        else:
            path, mark, query = component.partition("?")
            yield hide(path) + mark + hide(query)


def _unused(texts: str) -> str:
    """Return a name that is not in the texts, and that a URL parser keeps, also in a host."""
    used = set(re.findall(r"w[0-9]+z", texts.lower()))
    return next(name for n in itertools.count() if (name := f"w{n}z") not in used)


def _as_websocket(base_url: str) -> str:
    return "ws" + base_url[4:] if base_url[:4].lower() == "http" else base_url


def _parse(text: str, base_url: str | None) -> ada_url.URL | None:
    try:
        return ada_url.URL(_well_formed(text), _well_formed(base_url) if base_url else None)
    except ValueError:
        return None


def _well_formed(text: str) -> str:
    """Replace lone surrogates, as JavaScript does when a text becomes a URL."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
