"""Redacts what a worker is about to write, so that the rule has one home."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw

from trafficmock.redaction.added_fields import InvalidFieldError
from trafficmock.redaction.redacted_documents import redacted_har
from trafficmock.server.reports.slow_work import LARGE, SlowWork
from trafficmock.wire.client_message import RedactResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trafficmock.core.effects import Redact
    from trafficmock.redaction.redactor import Redactor
    from trafficmock.wire.client_message import RedactQuery

_NO_HAR = "there is no HAR: it has no list log.entries"


def redact_steps(
    effect: Redact, redactor: Redactor
) -> Iterator[RedactResult | SlowWork[RedactResult] | None]:
    """Redact a HAR and texts.

    :param redactor: that of the service; the query may name further fields.
    :returns: yields what is to be done in a thread if it is large, and the answer at the end.
    """
    query = effect.query
    try:
        redactor = redactor.adding(query.redact or ())
    except InvalidFieldError as error:
        yield RedactResult(query.query_id, [], error=str(error))
        return
    work = SlowWork(lambda: _redacted(query, redactor))
    size = sum(map(len, query.texts or ())) + (0 if query.har is UNSET else len(bytes(query.har)))
    if size > LARGE:
        yield work
    yield work.result()


def _redacted(query: RedactQuery, redactor: Redactor) -> RedactResult:
    har: Raw | Any = UNSET
    if query.har is not UNSET:
        try:
            document = json.loads(bytes(query.har))
            entries = [*document["log"]["entries"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return RedactResult(query.query_id, [], error=_NO_HAR)
        document["log"]["entries"] = []
        document = redacted_har(document, redactor)
        for entry in entries:
            document["log"]["entries"] += redacted_har({"entries": [entry]}, redactor)["entries"]
        har = Raw(json.dumps(document, separators=(",", ":")).encode("ascii"))
    return RedactResult(query.query_id, [redactor.text(text) for text in query.texts or ()], har)
