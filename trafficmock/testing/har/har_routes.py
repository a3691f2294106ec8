"""``route_from_har``: a route that the proxy answers from a HAR, or records one for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal, get_args

from attrs import frozen
from msgspec import UNSET, Raw

from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_entries import HarReplay, har_entries, read_bodies
from trafficmock.testing.har.har_file import HarFile
from trafficmock.testing.promise import Promise, all_of, mapped, settled
from trafficmock.testing.session.arguments.flags import check_flag
from trafficmock.testing.session.arguments.url_matchers import Matcher, UrlMatcher, make_matcher
from trafficmock.testing.session.handlers.http_routes import RouteEntry
from trafficmock.testing.session.har_use import HarUse
from trafficmock.testing.session.session import Session
from trafficmock.texts.named_fields import InvalidFieldError, NamedFields
from trafficmock.wire.payloads.serialized_har import (
    MOST_PACE,
    Content,
    SerializedHar,
    SerializedRecording,
    UpdateMode,
)

Words = str | Iterable[str] | None
"""One word, or several."""

NotFound = Literal["abort", "fallback"]
HarMode = Literal["none", "once", "new", "all"]
"""When a HAR is recorded: the record modes of VCR."""


@frozen(kw_only=True)
class HarOptions:
    """The arguments of ``route_from_har``."""

    store: HarFile
    url: UrlMatcher = None
    not_found: NotFound = "abort"
    mode: HarMode | None = None
    update: bool = False
    update_content: Content = "attach"
    update_mode: UpdateMode = "minimal"
    redact: Words = None
    pace: float | None = None
    match_on: Words = None
    ignore: Words = None
    in_order: bool = False
    follow_redirects: bool = False

    def check(self) -> None:
        """Check the arguments at run time: not every test is type-checked.

        :raises UsageError: one of the literals is unknown.
        """
        for name, words in (
            ("not_found", NotFound),
            ("update_content", Content),
            ("update_mode", UpdateMode),
        ):
            given, known = getattr(self, name), get_args(words)
            if given not in known:
                raise UsageError(f"{name} is {' or '.join(known)}, not {given!r}")
        pace = self.pace
        is_number = isinstance(pace, int | float) and not isinstance(pace, bool)
        if pace is not None and not (is_number and 0 <= pace <= MOST_PACE):
            raise UsageError(f"pace is a number from 0 to {MOST_PACE}, not {pace!r}")
        known = get_args(HarMode)
        if self.mode is not None and self.mode not in known:
            raise UsageError(f"mode is {' or '.join(known)}, not {self.mode!r}")
        for name in ("update", "in_order", "follow_redirects"):
            check_flag(name, getattr(self, name))
        if self.update and self.mode not in (None, "all"):
            raise UsageError(f"update=True is mode='all': leave it out for mode={self.mode!r}")

    def replays(self) -> bool:
        """Return whether recorded responses are used."""
        if self.mode in ("once", "new"):
            return self.store.exists()
        return self.mode != "all" and not self.update

    def records(self) -> bool:
        """Return whether a HAR is written at the end of the test."""
        return self.mode == "new" or not self.replays()

    def words_to_redact(self) -> list[str]:
        """Return what is secret in a HAR that is recorded.

        :raises UsageError: a field is invalid.
        """
        words = _words("redact", self.redact) or []
        try:
            NamedFields.of(words)
        except InvalidFieldError as error:
            raise UsageError(str(error)) from None
        return words


def route_from_har(session: Session, options: HarOptions, place: str) -> Promise[Any]:
    """Register the route; a HAR that is recorded is written at the test's end.

    :param place: the file and line of the test's call.
    """
    options.check()
    url = "**/*" if options.url is None else options.url
    matcher = make_matcher(url, base_url=session.base_url)
    match_on, ignore = _words("match_on", options.match_on), _words("ignore", options.ignore) or []
    replays, records = options.replays(), options.records()
    path, pace = options.store.path, UNSET if options.pace is None else options.pace
    made: list[Promise[Any]] = []

    def replay(entries: list[Raw], use: HarUse) -> None:
        har = SerializedHar(
            str(path),
            entries,
            "fallback" if records else options.not_found,
            pace,
            UNSET if match_on is None else match_on,
            ignore,
            options.in_order,
            options.follow_redirects,
        )
        made.append(session.http.route(matcher, HarReplay(har.name, use), place=place, har=har))

    if not replays and (match_on is not None or ignore):
        # The proxy says whether they are rules, before a later run needs them.
        replay([], HarUse())
    if records:
        made.append(_record(session, options, matcher, [*made], place))
    if replays:
        # Entries of another URL than the route's may answer where not all of it is compared.
        of_any_url = match_on is not None and "url" not in match_on
        entries = har_entries(
            options.store, matcher, of_any_url=of_any_url, leads_on=options.follow_redirects
        )
        replay(entries, session.har_use(str(path.absolute()), len(entries)))
    return made[0] if len(made) == 1 else all_of(made)


def _words(name: str, given: Words) -> list[str] | None:
    """Read an argument of one word or several; the proxy says which words there are.

    :raises UsageError: it is neither.
    """
    if given is None:
        return None
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, Iterable) or not all(isinstance(word, str) for word in words):
        raise UsageError(f"{name} is a word or a list of words, not {given!r}")
    return list(words)


def _record(
    session: Session,
    options: HarOptions,
    matcher: Matcher,
    checks: list[Promise[Any]],
    place: str,
) -> Promise[RouteEntry]:
    """Register a route that the proxy records, and write the HAR when the test has passed.

    :param checks: of its rules: by wrong ones nothing is recorded.
    """
    store, adds = options.store, options.replays()
    kept = store.entries() if adds else []
    bodies = read_bodies(kept, store)
    how = SerializedRecording(
        options.update_content,
        options.update_mode,
        options.words_to_redact(),
        options.follow_redirects,
    )
    registered = session.http.route(matcher, HarRecorder(), place=place, record=how)

    def write(files: dict[str, bytes]) -> None:
        entries = [*kept, *json.loads(files.pop(""))]
        if adds and len(entries) == len(kept):
            return
        store.save(entries, {**bodies, **files})
        use = session.har_use(str(store.path.absolute()), len(entries))
        use.used.update(range(len(kept) + 1, len(entries) + 1))

    def save() -> Promise[None]:
        # A recording of a test that failed would be replayed as if it were right.
        failed = any(each.error for each in (*checks, registered))
        if failed or session.passed is False or session.errors:
            return settled(None)
        return mapped(session.client.recording(session.id, registered.value.id), write)

    session.finishing.append(save)
    return registered


@frozen
class HarRecorder:
    """The handler of a route that is recorded, for its name."""

    def __repr__(self) -> str:
        return "of a HAR that is recorded"
