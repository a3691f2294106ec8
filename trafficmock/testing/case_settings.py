"""The settings of mocks in test cases of unittest and trial."""

from __future__ import annotations

from typing import Any

from trafficmock.testing.launch.proxy_process import Proxy
from trafficmock.testing.session.arguments.allow_patterns import Allowed
from trafficmock.testing.session.session import TestInfo
from trafficmock.testing.session.traffic_context import Isolation


class CaseSettings:
    """Attributes that a test case may set; see the arguments of the same names of ``mocks()``.

    ``trafficmock_proxy`` is the :class:`~trafficmock.testing.launch.Proxy` to use; unless set, the
    one that the environment names, else one that is started and runs as long as this process, with
    the options of ``trafficmock serve`` in ``trafficmock_proxy_options``.
    """

    trafficmock_proxy: Proxy | None = None
    trafficmock_proxy_options: tuple[str, ...] = ()
    trafficmock_base_url: str | None = None
    trafficmock_isolation: Isolation = "auto"
    trafficmock_origins: tuple[str, ...] = ()
    trafficmock_browser_proxy: bool = False
    trafficmock_door: bool = False
    trafficmock_strict: bool = False
    trafficmock_required: bool = False
    trafficmock_allow: tuple[Allowed, ...] = ()

    def _trafficmock_info(self: Any) -> TestInfo:
        """Return the settings of the test that is about to run."""
        return TestInfo(
            title=self.id(),
            file=type(self).__module__,
            base_url=self.trafficmock_base_url,
            isolation=self.trafficmock_isolation,
            origins=self.trafficmock_origins,
            browser_proxy=self.trafficmock_browser_proxy,
            door=self.trafficmock_door,
            strict=self.trafficmock_strict,
            required=self.trafficmock_required,
            allow=self.trafficmock_allow,
        )
