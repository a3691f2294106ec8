"""A proxy with recorded traffic, started once for the tests here, and commands that ask it."""

import atexit
import functools
import io
import os
import sys
from contextlib import ExitStack

from attrs import frozen
from twisted.trial.unittest import SynchronousTestCase

from tests.command.traffic import Traffic
from tests.support.processes.proxy_process import NO_PINGS, ProxyProcess, running_proxy
from trafficmock import cli


@frozen
class RecordedProxy:
    """What commands can ask.

    :param traffic: whose connections stay open.
    """

    proxy: ProxyProcess
    traffic: Traffic


@functools.cache
def recorded_proxy() -> RecordedProxy:
    """Start proxy and traffic, or give those that run."""
    ending = ExitStack()
    proxy = ending.enter_context(running_proxy(*NO_PINGS))
    traffic = Traffic.at(proxy.url).everything()
    atexit.register(ending.close)
    return RecordedProxy(proxy, traffic)


@frozen
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str


class CommandTestCase(SynchronousTestCase):
    """Runs commands as the shell would, in this process."""

    def setUp(self) -> None:
        self.proxy = recorded_proxy().proxy
        self.environment = {"TRAFFICMOCK_PROXY_URL": self.proxy.url, "TERM": "xterm"}

    def run_command(self, *words: str) -> Done:
        """Run ``trafficmock`` with these words; output is a pipe."""
        out, err = io.StringIO(), io.StringIO()
        undo = [
            self.patch(sys, "stdout", out),
            self.patch(sys, "stderr", err),
            self.patch(os, "environ", self.environment),
        ]
        status = 0
        try:
            cli.main(words)
        except SystemExit as ended:
            status = int(ended.code or 0)
        for patch in reversed(undo):
            patch.restore()
        return Done(status, out.getvalue(), err.getvalue())

    def check_clean(self, done: Done) -> None:
        """Nothing recorded reaches a terminal raw."""
        for text in (done.out, done.err):
            raw = [char for char in text if not char.isprintable() and char != "\n"]
            self.assertEqual(raw, [])
