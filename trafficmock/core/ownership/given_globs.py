"""Reads the globs of workers that leave that to the coordinator (feature ``chain``)."""

from __future__ import annotations

from msgspec import UNSET, structs

from trafficmock.core.effects import EffectList
from trafficmock.core.state.peers import Worker
from trafficmock.matching import GlobError, compile_matcher
from trafficmock.matching.patterns.given_glob import GivenGlob
from trafficmock.wire.client_message import GlobQuery, GlobResult
from trafficmock.wire.features import CHAIN
from trafficmock.wire.inbound import RouteKind
from trafficmock.wire.payloads.serialized_matcher import SerializedMatcher


def read_matcher(
    worker: Worker, matcher: SerializedMatcher, kind: RouteKind = "http"
) -> SerializedMatcher:
    """Return a matcher as :func:`absolute` does.

    :raises GlobError: its glob is invalid.
    """
    found = absolute(worker, matcher, kind)
    if (given := _given(worker, matcher, kind)) is not None:
        given.check_path()
        if not _compiles(found):
            given.compile()
    return found


def _compiles(matcher: SerializedMatcher) -> bool:
    """Return whether a glob can be compiled; the result is kept for the route that has it."""
    if matcher.url_glob is UNSET:
        return False
    predicate = bool(matcher.predicate)
    return (
        compile_matcher(url_glob=matcher.url_glob, predicate=predicate).condition.glob is not None
    )


def absolute(
    worker: Worker, matcher: SerializedMatcher, kind: RouteKind = "http"
) -> SerializedMatcher:
    """Return a matcher whose glob means the same without the base URL.

    If there is no such glob, it stays relative, so that the worker is asked.
    """
    given = _given(worker, matcher, kind)
    if given is None:
        return structs.replace(matcher, base_url=UNSET) if matcher.base_url else matcher
    return structs.replace(matcher, url_glob=given.absolute() or given.glob, base_url=UNSET)


def _given(worker: Worker, matcher: SerializedMatcher, kind: RouteKind) -> GivenGlob | None:
    if CHAIN not in worker.features or matcher.url_glob is UNSET:
        return None
    return GivenGlob(matcher.url_glob, matcher.base_url or None, kind == "websocket")


def answer(worker: Worker, message: GlobQuery, out: EffectList) -> None:
    """Answer ``glob:query``."""
    given = GivenGlob(message.glob, message.base_url or None, message.kind == "websocket")
    try:
        result = GlobResult(message.query_id, given.javascript())
    except GlobError as error:
        result = GlobResult(message.query_id, error=str(error))
    out.send(worker.id, result)
