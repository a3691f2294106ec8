"""``route_from_har``: an ordinary route whose handler answers from a HAR, or makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from attrs import define, frozen

from trafficmock.testing.errors import UsageError
from trafficmock.testing.har.har_lookup import STALLED, HarCycleError, Lookup, Question, Recorded
from trafficmock.testing.har.har_recording import Content, Mode, Recording
from trafficmock.testing.session.handler_fetches import FetchOptions
from trafficmock.testing.session.mock_response import Mock
from trafficmock.testing.session.url_matchers import UrlMatcher, make_matcher

if TYPE_CHECKING:
    from trafficmock.testing.adapters.world import Done
    from trafficmock.testing.objects.response import ResponseState
    from trafficmock.testing.session.exchange import Exchange
    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.session import Session

NotFound = Literal["abort", "fallback"]


class HarStore(Protocol):
    """Where a HAR lies."""

    def entries(self) -> list[dict[str, Any]]:
        """Read the entries."""

    def read(self, name: str) -> bytes:
        """Read a body beside it."""

    def save(self, document: dict[str, Any], files: dict[str, bytes]) -> None:
        """Write it anew."""


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
        """Look at what the type checker may not have seen.

        :raises UsageError: a word that means nothing here.
        """
        for name, words in (
            ("not_found", NotFound),
            ("update_content", Content),
            ("update_mode", Mode),
        ):
            given, known = getattr(self, name), get_args(words)
            if given not in known:
                raise UsageError(f"{name} is {' or '.join(known)}, not {given!r}")


def route_from_har(session: Session, options: HarOptions) -> Promise[Any]:
    """Register the route; a HAR that is made is written at the test's end."""
    options.check()
    url = "**/*" if options.url is None else options.url
    matcher = make_matcher(url, base_url=session.base_url)
    if not options.update:
        lookup = Lookup(options.store.entries(), options.store.read)
        replay = Replay(lookup, options.not_found)
        return session.http.route(matcher, replay, run=replay.run)
    version = session.hub.identity.version
    recording = Recording(version, options.update_content, options.update_mode)
    recorder = Recorder(recording)
    session.finishing.append(lambda: options.store.save(recording.document(), recording.files))
    return session.http.route(matcher, recorder, run=recorder.run)


@define(eq=False)
class Replay:
    """Answers from a HAR."""

    lookup: Lookup
    not_found: NotFound

    def run(self, exchange: Exchange, done: Done) -> None:
        """Decide a request."""
        try:
            self._decide(exchange)
        except Exception as error:  # noqa: BLE001 - a bad HAR is the test's error
            done(None, error)
        else:
            done(None, None)

    def _decide(self, exchange: Exchange) -> None:
        request = exchange.request
        question = Question(request.url, request.method, request.headers, request.content)
        try:
            found = self.lookup.find(question)
        except HarCycleError:
            found = None
        if found is not None:
            _fulfill(exchange, found)
        elif self.not_found == "fallback":
            exchange.fallback(url=None, method=None, headers=None, post_data=None)
        else:
            exchange.abort("failed")


def _fulfill(exchange: Exchange, found: Recorded) -> None:
    if found.status == STALLED:
        raise UsageError(
            f"the HAR says that {exchange.request} never got an answer (status -1); "
            "record it anew or route it by hand"
        )
    exchange.fulfill(
        Mock(
            status=found.status,
            status_text=found.status_text,
            headers=found.headers,
            body=found.body,
        )
    )


@define(eq=False)
class Recorder:
    """Asks upstream, and writes down what it says."""

    recording: Recording

    def run(self, exchange: Exchange, done: Done) -> None:
        """Decide a request by what upstream says."""
        link = exchange.session.hub.link
        began = link.epoch_ms()

        def fetched(promise: Promise[ResponseState]) -> None:
            took = link.epoch_ms() - began
            try:
                if promise.error is not None:
                    self.recording.add(exchange.request, str(promise.error), began, took)
                    exchange.abort("failed")
                else:
                    self.recording.add(exchange.request, promise.value, began, took)
                    exchange.fulfill(Mock(response=promise.value))
            except Exception as error:  # noqa: BLE001 - a test that has ended, for one
                done(None, error)
            else:
                done(None, None)

        try:
            exchange.fetch(FetchOptions()).watch(fetched)
        except Exception as error:  # noqa: BLE001 - the connection is lost, for one
            done(None, error)
