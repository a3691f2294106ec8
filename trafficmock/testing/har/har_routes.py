"""``route_from_har``: a route that the proxy answers from a HAR, or whose handler records one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from attrs import define, frozen
from msgspec import UNSET

from trafficmock.redaction.added_fields import InvalidFieldError
from trafficmock.redaction.redactor import Redactor
from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_entries import HarReplay, har_entries
from trafficmock.testing.har.har_recording import Content, HarRecording, Mode
from trafficmock.testing.session.arguments.url_matchers import UrlMatcher, make_matcher
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions
from trafficmock.testing.session.handlers.mock_response import Mock
from trafficmock.wire.payloads.serialized_har import MOST_PACE, SerializedHar

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from trafficmock.testing.promise import Promise
    from trafficmock.testing.session.handlers.routed_request import RoutedRequest
    from trafficmock.testing.session.observation.request_state import ResponseState
    from trafficmock.testing.session.ports import Done
    from trafficmock.testing.session.session import Session

NotFound = Literal["abort", "fallback"]


class HarStore(Protocol):
    """Reads and writes a HAR."""

    @property
    def path(self) -> Path:
        """The path of the file."""

    def entries(self) -> list[dict[str, Any]]:
        """Read the entries."""

    def read(self, name: str) -> bytes:
        """Read a body beside the HAR."""

    def save(self, document: dict[str, Any], files: dict[str, bytes]) -> None:
        """Write the HAR and its body files."""


@frozen(kw_only=True)
class HarOptions:
    """The arguments of ``route_from_har``."""

    store: HarStore
    url: UrlMatcher = None
    not_found: NotFound = "abort"
    update: bool = False
    update_content: Content = "attach"
    update_mode: Mode = "minimal"
    redact: str | Iterable[str] | None = None
    pace: float | None = None

    def check(self) -> None:
        """Check the arguments at run time: not every test is type-checked.

        :raises UsageError: one of the literals is unknown.
        """
        for name, words in (
            ("not_found", NotFound),
            ("update_content", Content),
            ("update_mode", Mode),
        ):
            given, known = getattr(self, name), get_args(words)
            if given not in known:
                raise UsageError(f"{name} is {' or '.join(known)}, not {given!r}")
        pace = self.pace
        is_number = isinstance(pace, int | float) and not isinstance(pace, bool)
        if pace is not None and not (is_number and 0 <= pace <= MOST_PACE):
            raise UsageError(f"pace is a number from 0 to {MOST_PACE}, not {pace!r}")

    def redactor(self) -> Redactor:
        """Return what replaces secrets in a HAR that is recorded.

        :raises UsageError: a field is invalid.
        """
        try:
            return Redactor.of(self.redact)
        except InvalidFieldError as error:
            raise UsageError(str(error)) from None


def route_from_har(session: Session, options: HarOptions, place: str) -> Promise[Any]:
    """Register the route; a HAR that is recorded is written at the test's end.

    :param place: the file and line of the test's call.
    """
    options.check()
    url = "**/*" if options.url is None else options.url
    matcher = make_matcher(url, base_url=session.base_url)
    if not options.update:
        har = SerializedHar(
            str(options.store.path),
            har_entries(options.store, matcher),
            options.not_found,
            UNSET if options.pace is None else options.pace,
        )
        return session.http.route(matcher, HarReplay(har.name), place=place, reply=har)
    version = session.client.identity.version
    recording = HarRecording(
        version, options.update_content, options.update_mode, options.redactor()
    )
    recorder = HarRecorder(recording)
    session.finishing.append(lambda: options.store.save(recording.document(), recording.files))
    return session.http.route(matcher, recorder, run=recorder.run, place=place)


@define(eq=False)
class HarRecorder:
    """Fetches responses from upstream, and records them."""

    recording: HarRecording

    def __repr__(self) -> str:
        return "of a HAR that is recorded"

    def run(self, routed: RoutedRequest, done: Done) -> None:
        """Send a request upstream, record the response, and answer with it."""
        link = routed.session.client.link
        began = link.epoch_ms()

        def fetched(promise: Promise[ResponseState]) -> None:
            took = link.epoch_ms() - began
            try:
                if promise.error is not None:
                    self.recording.add(routed.request, str(promise.error), began, took)
                    routed.abort("failed")
                else:
                    self.recording.add(routed.request, promise.value, began, took)
                    routed.fulfill(Mock(response=promise.value))
            except Exception as error:  # noqa: BLE001 - a test that has ended, for one
                done(None, error)
            else:
                done(None, None)

        try:
            routed.fetch(FetchOptions()).watch(fetched)
        except Exception as error:  # noqa: BLE001 - the connection is lost, for one
            done(None, error)
