"""Redacts what a worker is about to write, so that the rule has one home."""

from __future__ import annotations

from collections.abc import Iterator

from trafficmock.core.effects import Redact
from trafficmock.redaction.redactor import Redactor
from trafficmock.server.reports.slow_work import LARGE, SlowWork
from trafficmock.texts.named_fields import InvalidFieldError
from trafficmock.wire.client_message import RedactResult


def redact_steps(
    effect: Redact, redactor: Redactor
) -> Iterator[RedactResult | SlowWork[list[str]] | None]:
    """Redact texts.

    :param redactor: that of the service; the query may name further fields.
    :returns: yields what is to be done in a thread if it is large, and the answer at the end.
    """
    query = effect.query
    try:
        redactor = redactor.adding(query.redact or ())
    except InvalidFieldError as error:
        yield RedactResult(query.query_id, [], error=str(error))
        return
    texts = query.texts or ()
    work = SlowWork(lambda: [redactor.text(text) for text in texts])
    if sum(map(len, texts)) > LARGE:
        yield work
    yield RedactResult(query.query_id, work.result())
