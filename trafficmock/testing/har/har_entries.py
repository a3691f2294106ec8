"""The entries of a HAR for the proxy, which answers from them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import compress
from typing import Any

from attrs import frozen
from msgspec import UNSET, Raw

from trafficmock.errors import LocalError
from trafficmock.matching.url_parts import comparable_url
from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.session.arguments.url_matchers import Matcher
from trafficmock.testing.session.har_use import HarUse
from trafficmock.wire.limits import MOST_HAR_BYTES
from trafficmock.wire.payloads.serialized_har import OF_REQUESTS, OF_RESPONSES
from trafficmock.wire.payloads.serialized_response import REDIRECTS

_NULL = Raw(b"null")
_REDIRECTS = frozenset(map(str, REDIRECTS))
"""As texts: programs write the status in either way."""

_OF_BODIES = ("mimeType", "_coding")
"""What is read of a body besides its content."""


@frozen
class HarReplay:
    """The handler of a route that answers from a HAR, for its name."""

    name: str
    use: HarUse

    def __repr__(self) -> str:
        return f"of the HAR {self.name}"


def har_entries(
    file: HarFile, matcher: Matcher, *, of_any_url: bool = False, leads_on: bool = False
) -> list[Raw]:
    """Return the entries of a HAR as JSON, with ``null`` for those that the route does not need.

    Bodies in files are read. All entries are needed where only a predicate of the test can tell,
    and where one that the route wants is a redirect that is followed within the HAR.

    :param of_any_url: whether entries may answer whose URL the route does not match.
    :param leads_on: whether redirects are followed.
    :raises UsageError: the file is missing, cannot be read, or is no HAR, or the entries are too
        large for a message.
    """
    entries = file.entries()
    wanted = [
        _has_parts(each) and (of_any_url or _is_wanted(each["request"], matcher))
        for each in entries
    ]
    leads_on = leads_on and any(
        str(each["response"].get("status")) in _REDIRECTS for each in compress(entries, wanted)
    )
    made = [
        _encoded(each, file) if is_wanted or (leads_on and _has_parts(each)) else _NULL
        for each, is_wanted in zip(entries, wanted, strict=True)
    ]
    size = sum(len(memoryview(each)) for each in made)
    if size > MOST_HAR_BYTES:
        raise UsageError(
            f"the entries of the HAR for this route take {size} bytes, with the bodies in its "
            f"files, and a route may have {MOST_HAR_BYTES}: give route_from_har a narrower url"
        )
    return made


def _has_parts(entry: Any) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(part), dict) for part in ("request", "response")
    )


def _is_wanted(request: dict[str, Any], matcher: Matcher) -> bool:
    url, method = request.get("url"), request.get("method")
    if not isinstance(url, str) or not isinstance(method, str):
        return False
    if matcher.wire.predicate is not UNSET:
        return True
    is_method = not matcher.methods or method.upper() in matcher.methods
    return is_method and matcher.matches_url(comparable_url(url))


def _encoded(entry: dict[str, Any], file: HarFile) -> Raw:
    request = {key: value for key, value in entry["request"].items() if key in OF_REQUESTS}
    answer = {key: value for key, value in entry["response"].items() if key in OF_RESPONSES}
    for holder, key in ((request, "postData"), (answer, "content")):
        if isinstance(holder.get(key), dict) and holder[key].get("_file"):
            holder[key] = _from_file(holder[key], file)
    document = {"request": request, "response": answer}
    # Lone surrogates are replaced: no message can have them.
    return Raw(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))


def read_bodies(entries: Sequence[Any], file: HarFile) -> dict[str, bytes]:
    """Read the files of the bodies of entries, by name; those that are missing are left out."""
    files: dict[str, bytes] = {}
    for entry in filter(_has_parts, entries):
        for holder in (entry["request"].get("postData"), entry["response"].get("content")):
            name = holder.get("_file") if isinstance(holder, dict) else None
            if isinstance(name, str) and name not in files:
                with suppress(OSError):
                    files[name] = file.read(name)
    return files


def _from_file(holder: dict[str, Any], file: HarFile) -> dict[str, Any]:
    """Return a body with the content of its file, and with what else is known of it."""
    try:
        content = file.read(str(holder["_file"]))
    except (LocalError, OSError) as error:
        return {"unreadable": str(error)}
    kept: dict[str, Any] = {key: holder[key] for key in _OF_BODIES if key in holder}
    return {**kept, "text": base64.b64encode(content).decode(), "encoding": "base64"}
