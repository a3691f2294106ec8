"""How the objects in a test's hands reach the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from trafficmock.testing.objects.request import Views

if TYPE_CHECKING:
    from collections.abc import Callable

    from trafficmock.testing.session.promise import Promise
    from trafficmock.testing.session.request_state import RequestState, ResponseState


class Surroundings(Views, Protocol):
    """Calls the session where it lives, and waits as the test is written."""

    def call(self, function: Callable[[], Any]) -> Any:
        """Call something of the session, where it lives; what it raises is raised here."""

    def wait_for(self, function: Callable[[], Promise[Any]]) -> Any:
        """Call something of the session that gives a promise, and wait for that."""

    def done(self) -> Any:
        """Give what a call that is done already gives: nothing, or something to await."""


class Showing:
    """Shows each request and response as one object, whoever asks and how often."""

    request_class: ClassVar[type[Any]]
    response_class: ClassVar[type[Any]]

    def request(self, state: RequestState) -> Any:
        """Show a request."""
        view = state.views.get(self.request_class) or self.request_class(state, self)
        return state.views.setdefault(self.request_class, view)

    def response(self, state: ResponseState) -> Any:
        """Show a response."""
        kind = self.response_class
        view = state.views.get(kind) or kind(state, self.request(state.request))
        return state.views.setdefault(kind, view)
