"""The systemd units, with the real tools: they are valid, and activation works."""

import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from twisted.python.filepath import FilePath
from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.proxy_process import (
    REPOSITORY,
    TWISTD,
    ProxyProcess,
    free_port,
    get,
    running_proxy,
    until,
)

UNITS = REPOSITORY / "docs" / "systemd"
INSTALL = "apt-get install --yes systemd"


def tool(name: str) -> str:
    """Find a tool of systemd.

    :raises AssertionError: it is missing; the text is the line that installs it.
    """
    path = shutil.which(name)
    if path is None:
        raise AssertionError(f"{name} is missing; run: {INSTALL}")
    return path


class SystemdTestCase(SynchronousTestCase):
    """Has a directory of its own, with a short path as UNIX sockets want."""

    def setUp(self) -> None:
        self.directory = Path(mkdtemp())
        self.addCleanup(FilePath(str(self.directory)).remove)


class UnitTests(SystemdTestCase):
    """``docs/systemd`` holds units that systemd takes as they are."""

    def verify(self, text: str) -> str:
        """Let systemd check the units; the program only has to be one that is there."""
        text = re.sub(r"ExecStart=\S+", f"ExecStart={sys.executable}", text)
        (self.directory / "trafficmock.service").write_text(text)
        shutil.copy(UNITS / "trafficmock.socket", self.directory)
        done = subprocess.run(
            [tool("systemd-analyze"), "verify", "--man=no", "trafficmock.service"],
            capture_output=True,
            text=True,
            cwd=self.directory,
            check=False,
        )
        about_us = [line for line in done.stderr.splitlines() if "trafficmock" in line]
        return "\n".join(about_us) + ("" if done.returncode == 0 else f"\n{done.stderr}")

    def test_valid(self) -> None:
        """Systemd has nothing to say about the units."""
        self.assertEqual(self.verify((UNITS / "trafficmock.service").read_text()), "")

    def test_would_be_told(self) -> None:
        """A mistake in a unit is something it has to say."""
        text = (UNITS / "trafficmock.service").read_text()
        self.assertIn("notfy", self.verify(text.replace("Type=notify", "Type=notfy")))

    def test_command(self) -> None:
        """The command of the unit has only words that twistd and its options know."""
        text = (UNITS / "trafficmock.service").read_text()
        (command,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
        words = command.split()
        self.assertEqual(Path(words[0]).name, "twistd")
        done = subprocess.run(
            [*TWISTD, *words[1:], "--help"],
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class ActivationTests(SystemdTestCase):
    """systemd listens, and hands its socket over."""

    def test_first_connection(self) -> None:
        """The first request starts the service on the socket of systemd, and is answered."""
        port = free_port()
        with activated(port, self.directory) as url:
            self.assertTrue(get(f"{url}/health")["ok"])
            self.assertEqual(get(f"{url}/api/history"), {"entries": []})

    def test_bound_beyond_loopback(self) -> None:
        """What counts is where the socket is really bound: without a token it is refused."""
        with socket.socket() as listening:
            listening.bind(("0.0.0.0", 0))  # noqa: S104 - what is refused
            listening.listen()
            done = subprocess.run(
                handing_over(listening.fileno()),
                pass_fds=[listening.fileno()],
                capture_output=True,
                text=True,
                cwd=REPOSITORY,
                check=False,
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("trafficmock: refusing to listen on", done.stderr)

    def test_no_socket(self) -> None:
        """Without a socket from systemd the start fails with one line."""
        done = subprocess.run(
            [*TWISTD, "-n", "trafficmock", "--endpoint", "systemd:domain=INET:index=0"],
            capture_output=True,
            text=True,
            cwd=REPOSITORY,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        message = (
            r"\Atrafficmock: --endpoint .* cannot be used: no such socket was .*--fdname.*\n\Z"
        )
        self.assertRegex(done.stderr, message)

    def test_no_names(self) -> None:
        """A socket without a name in LISTEN_FDNAMES is not taken; the line says what is missing."""
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            done = subprocess.run(
                handing_over(listening.fileno(), names=""),
                pass_fds=[listening.fileno()],
                capture_output=True,
                text=True,
                cwd=REPOSITORY,
                check=False,
            )
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Atrafficmock: .*LISTEN_FDNAMES.*\n\Z")


class NotifyTests(SystemdTestCase):
    """``Type=notify``: systemd is told what it waits for."""

    def test_states(self) -> None:
        """READY comes when the service answers, STOPPING when it ends."""
        path = self.directory / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
            receiver.settimeout(20)
            receiver.bind(str(path))
            with running_proxy(env={"NOTIFY_SOCKET": str(path)}) as running:
                self.assertEqual(receiver.recv(100), b"READY=1")
                self.assertTrue(running.get("/health")["ok"])
            self.assertEqual(receiver.recv(100), b"STOPPING=1")
        self.assertEqual(running.process.returncode, 0)


@contextmanager
def activated(port: int, directory: Path) -> Iterator[str]:
    """Let systemd's own tool listen, and start the service with the first connection."""
    output = directory / "output"
    command = [*TWISTD, "-n", "trafficmock", "--endpoint", "systemd:domain=INET:index=0"]
    address = f"127.0.0.1:{port}"
    with output.open("wb") as written:
        process = subprocess.Popen(
            [tool("systemd-socket-activate"), "-l", address, "--fdname", "x", *command],
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            cwd=REPOSITORY,
        )
    running = ProxyProcess(f"http://{address}", process, output)
    until(lambda: "Listening on" in output.read_text(), process, output)
    try:
        yield running.url
    finally:
        running.stop()


def handing_over(descriptor: int, names: str = "x") -> list[str]:
    """Write the command that becomes the service with ``descriptor`` as systemd's socket.

    :param names: what LISTEN_FDNAMES says.
    """
    become = (
        "import os, sys; "
        f"os.dup2({descriptor}, 3); "
        f"os.environ.update(LISTEN_FDS='1', LISTEN_FDNAMES='{names}'); "
        "os.environ['LISTEN_PID'] = str(os.getpid()); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    endpoint = "systemd:domain=INET:index=0"
    return [sys.executable, "-c", become, *TWISTD, "-n", "trafficmock", "--endpoint", endpoint]
