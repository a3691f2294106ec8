"""Redacts what a worker is about to write, so that the rule has one home."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw

from trafficmock.redaction.added_fields import InvalidFieldError
from trafficmock.redaction.redacted_documents import redacted_har
from trafficmock.wire.outbound import RedactResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trafficmock.core.effects import Redact
    from trafficmock.redaction.redactor import Redactor

_NO_HAR = "there is no HAR: it has no list log.entries"


def redact_steps(effect: Redact, redactor: Redactor) -> Iterator[RedactResult | None]:
    """Redact a HAR, one entry in each step, and texts.

    :param redactor: that of the service; the query may name further fields.
    :returns: yields ``None`` after each entry, and the answer at the end.
    """
    query = effect.query
    try:
        redactor = redactor.adding(query.redact or ())
    except InvalidFieldError as error:
        yield RedactResult(query.query_id, [], error=str(error))
        return
    har: Raw | Any = UNSET
    if query.har is not UNSET:
        try:
            document = json.loads(bytes(query.har))
            entries = [*document["log"]["entries"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            yield RedactResult(query.query_id, [], error=_NO_HAR)
            return
        document["log"]["entries"] = []
        document = redacted_har(document, redactor)
        for entry in entries:
            document["log"]["entries"] += redacted_har({"entries": [entry]}, redactor)["entries"]
            yield None
        har = Raw(json.dumps(document, separators=(",", ":")).encode("ascii"))
    yield RedactResult(query.query_id, [redactor.text(text) for text in query.texts or ()], har)
