"""Globs are URLs before they are patterns: resolve them as a URL parser would.

A test may write ``HTTP://Api.Test:80/ä`` or, with a base URL, ``/users/*``.  The
literal parts go through a WHATWG URL parser so that they are compared in the form
in which requests carry them, while the parts with wildcards travel through the
parser behind placeholders (protocol 3, steps 0 to 4 of its glob rules).
"""

import itertools
from collections.abc import Iterator

import ada_url

AS_IS_PREFIXES = ("*", "about:", "data:", "chrome:", "edge:", "file:")
ABSOLUTE_SCHEMES = ("http:", "https:", "ws:", "wss:")
OPAQUE_CHARACTERS = frozenset("*?{}\\")


def needs_base(glob: str) -> bool:
    """Tell whether the meaning of a glob depends on a base URL.

    :param glob: the glob as the test wrote it.
    :return: true if it is relative, so that nobody without the base can judge it.
    """
    if not glob or glob.startswith(AS_IS_PREFIXES):
        return False
    scheme, _, rest = glob.partition("/")
    absolute = scheme.lower() in ABSOLUTE_SCHEMES or _is_wild_scheme(scheme)
    return not (absolute and len(rest) > 1 and rest[0] == "/")


def resolve(glob: str, *, base_url: str | None = None, websocket: bool = False) -> str:
    """Turn a glob into one that is matched against whole, absolute URLs.

    :param glob: the glob as the test wrote it.
    :param base_url: the test's base URL, if it has one.
    :param websocket: the glob is for WebSocket URLs, so an ``http(s)`` base counts
        as ``ws(s)``.
    :return: the resolved glob; text that no URL parser accepts comes back as it is.
    """
    if not glob or glob.startswith(AS_IS_PREFIXES):
        return glob
    if websocket and base_url is not None:
        base_url = _as_websocket(base_url)
    originals: dict[str, str] = {}
    placeholders = _placeholders(f"{glob} {base_url}")
    joined = "/".join(_hide_wildcards(glob.replace("\\\\?", "?"), originals, placeholders))
    parsed = _parse(joined, base_url)
    resolved, origin = (joined, "") if parsed is None else (parsed.href, parsed.origin)
    for placeholder, original in originals.items():
        # Hosts and schemes are case-insensitive: URLs carry them in lower case.
        text = original.lower() if placeholder in origin else original
        resolved = resolved.replace(placeholder, text, 1)
    return resolved


def _is_wild_scheme(component: str) -> bool:
    return component.endswith(":") and ("*" in component or "{" in component)


def _hide_wildcards(
    glob: str, originals: dict[str, str], placeholders: Iterator[str]
) -> Iterator[str]:
    """Yield the components, with placeholders for what is not plain URL text."""

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


def _placeholders(texts: str) -> Iterator[str]:
    """Names that do not occur in the texts and that a URL parser keeps, also in a host."""
    lowered = texts.lower()
    stem = next(s for n in itertools.count() if (s := f"w{n}z") not in lowered)
    return (f"{stem}{number}z" for number in itertools.count())


def _as_websocket(base_url: str) -> str:
    return "ws" + base_url[4:] if base_url[:4].lower() == "http" else base_url


def _parse(text: str, base_url: str | None) -> ada_url.URL | None:
    try:
        return ada_url.URL(_well_formed(text), _well_formed(base_url) if base_url else None)
    except ValueError:
        return None


def _well_formed(text: str) -> str:
    """Replace lone surrogates as JavaScript does for text that becomes a URL."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
