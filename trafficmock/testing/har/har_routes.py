"""``route_from_har``: a route whose handler answers from a HAR, or records one.

The proxy gets the responses that depend only on method and URL with the route, and sends them
without the handler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from attrs import define, frozen

from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_lookup import (
    STALLED,
    HarCycleError,
    HarLookup,
    HarRequest,
)
from trafficmock.testing.har.har_recording import Content, HarRecording, Mode
from trafficmock.testing.har.har_replies import failure_code, mock_of, replies_of
from trafficmock.testing.session.arguments.url_matchers import UrlMatcher, make_matcher
from trafficmock.testing.session.handlers.handler_fetches import FetchOptions
from trafficmock.testing.session.handlers.mock_response import Mock

if TYPE_CHECKING:
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

    def size(self, name: str) -> int:
        """Return the size in bytes of a body beside the HAR."""

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


def route_from_har(session: Session, options: HarOptions, place: str) -> Promise[Any]:
    """Register the route; a HAR that is recorded is written at the test's end.

    :param place: the file and line of the test's call.
    """
    options.check()
    url = "**/*" if options.url is None else options.url
    matcher = make_matcher(url, base_url=session.base_url)
    if not options.update:
        lookup = HarLookup(options.store.entries(), options.store.read, str(options.store.path))
        replay = HarReplay(lookup, options.not_found)
        kept = replies_of(lookup, matcher, options.store)
        return session.http.route(matcher, replay, run=replay.run, place=place, recorded=kept)
    version = session.client.identity.version
    recording = HarRecording(version, options.update_content, options.update_mode)
    recorder = HarRecorder(recording)
    session.finishing.append(lambda: options.store.save(recording.document(), recording.files))
    return session.http.route(matcher, recorder, run=recorder.run, place=place)


@define(eq=False)
class HarReplay:
    """Answers from a HAR."""

    lookup: HarLookup
    not_found: NotFound

    def __repr__(self) -> str:
        return f"of the HAR {self.lookup.name}"

    def run(self, routed: RoutedRequest, done: Done) -> None:
        try:
            self._decide(routed)
        except Exception as error:  # noqa: BLE001 - a bad HAR is the test's error
            done(None, error)
        else:
            done(None, None)

    def _decide(self, routed: RoutedRequest) -> None:
        request = routed.request
        question = HarRequest(request.url, request.method, request.headers, request.content)
        try:
            found = self.lookup.find(question)
        except HarCycleError:
            found = None
        if found is not None:
            if found.status == STALLED:
                routed.abort(failure_code(found.failure), "the failure that was recorded")
            else:
                routed.fulfill(mock_of(found))
        elif self.not_found == "fallback":
            routed.fallback(url=None, method=None, headers=None, post_data=None)
        else:
            near = self.lookup.nearest(question)
            name = self.lookup.name
            routed.abort("failed", f"{name} has no such request{near and '; its '}{near}")


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
