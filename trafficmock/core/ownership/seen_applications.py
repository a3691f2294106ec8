"""Whether strict mode has seen an application at all: without one, it had nothing to refuse.

An application whose traffic does not pass through the proxy can send anything, and its strict tests
would pass. An agent is seen when it connects, a client of the forward proxy with its first request.
"""

from __future__ import annotations

from attrs import define


@define
class SeenApplications:
    """The applications and tests of one run: from the end of the last strict run, or the start.

    :ivar any_application: whether an agent or a client of the forward proxy was connected.
    :ivar any_test: whether a test was registered. Shared routes are not a test.
    """

    any_application: bool = False
    any_test: bool = False

    @property
    def is_missing(self) -> bool:
        """Whether tests ran without any application. Unit tests without mocks register none."""
        return self.any_test and not self.any_application

    def next_run(self, *, connected: bool) -> None:
        """Begin the next run.

        :param connected: whether an application is connected now.
        """
        self.any_application, self.any_test = connected, False
