"""``trafficmock run`` and ``trafficmock env`` without a proxy or a started command."""

import contextlib
import io
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from trafficmock.attach import environment
from trafficmock.attach.rest_probe import AttachError
from trafficmock.command import attach_options, env, run

PRELOAD = Path("/somewhere/register.js")


def printed(words: list[str]) -> str:
    """Give what ``trafficmock env`` prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        env.main(words)
    return output.getvalue()


class AttachCase(SynchronousTestCase):
    """Keeps what ``run`` would start in ``calls``: the name, the words and the environment."""

    def setUp(self) -> None:
        self.stderr = io.StringIO()
        self.patch(sys, "stderr", self.stderr)
        self.patch(attach_options, "find_preload", lambda _start: PRELOAD)
        self.patch(run, "check_health", lambda _url: None)
        self.patch(run, "check_welcome", lambda _address: None)
        self.patch(environment, "forward_variables", lambda *_: {"HTTP_PROXY": "there"})
        self.calls: list[tuple[str, list[str], dict[str, str]]] = []

        def become(command: list[str], env: dict[str, str]) -> None:
            self.calls.append((command[0], command, env))

        self.patch(run, "become", become)

    def without_agent(self) -> None:
        def find_preload(_start: Path) -> Path:
            raise AttachError("no agent")

        self.patch(attach_options, "find_preload", find_preload)
