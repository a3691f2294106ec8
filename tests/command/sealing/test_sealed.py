"""``trafficmock run --sealed``: what the command reaches, and what reaches it."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.support.processes.proxy_process import REPOSITORY, SECONDS, running_proxy
from tests.support.waiting import wait_until
from trafficmock.command.sealing import sealed
from trafficmock.command.sealing.namespaces import SealError
from trafficmock.command.sealing.sealed import AS_ROOT, MOST_HOSTS, Place
from trafficmock.testing.sync import mocks

REACHES = """
import json, socket, sys
found = {}
for name, family, kind, address in json.loads(sys.argv[1]):
    with socket.socket(family, kind) as tried:
        tried.settimeout(5)
        try:
            tried.connect(tuple(address))
            if kind == socket.SOCK_DGRAM:
                tried.send(b"hello")
            found[name] = "connected"
        except OSError as error:
            found[name] = type(error).__name__
try:
    found["dns"] = socket.getaddrinfo("server.example", 80)[0][4][0]
except OSError as error:
    found["dns"] = type(error).__name__
print(json.dumps(found))
"""
ASKS = """
import urllib.request
print(urllib.request.urlopen("http://api.example/x").read().decode())
try:
    urllib.request.urlopen("http://other.example/x")
except OSError as error:
    print(error)
"""
SERVES = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
server = HTTPServer(("127.0.0.1", int(os.environ["PORT"])), BaseHTTPRequestHandler)
print(os.getpid(), flush=True)
server.handle_request()
"""


REFUSED = """
from trafficmock.command.sealing import namespaces, sealed

def enter():
    raise namespaces.SealError("the kernel refuses")

namespaces.enter = enter
try:
    sealed.seal(sealed.Place("127.0.0.1", 1), [], [])
except namespaces.SealError as error:
    print(error)
"""


TUNNELS = """
import json, socket, sys
proxy, port = json.loads(sys.argv[1])
found = []
for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "localhost.", "outside"):
    with socket.create_connection(("127.0.0.1", proxy), timeout=5) as tried:
        tried.sendall(b"CONNECT %s:%d HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" % (host.encode(), port))
        tried.recv(65536)
        tried.sendall(b"\\0\\0\\0\\x08out")
        got = b"-"
        try:
            while got:
                got = tried.recv(65536)
                found.append(got.decode("latin-1"))
        except OSError as error:
            found.append(type(error).__name__)
try:
    socket.socket(fileno=int(sys.argv[2])).send(b"out")
    found.append("sent")
except OSError:
    pass
print(json.dumps(found))
"""
NOTE = f"trafficmock: {AS_ROOT}\n" if os.geteuid() == 0 else ""


def may_seal() -> bool:
    """Return whether the kernel lets this user make namespaces."""
    argv = ["unshare", "--user", "--net", "--mount", "--map-root-user", "true"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


class PlaceTests(SynchronousTestCase):
    """What ``--reach`` takes."""

    def test_read(self) -> None:
        self.assertEqual(Place.parse("DB.internal:5432"), Place("db.internal", 5432))
        self.assertEqual(Place.parse("[::1]:80"), Place("::1", 80))
        for wrong in ("db", "db:", ":80", "db:0", "db:65536", "db:x", "10.0.0.1:80"):
            error = self.assertRaises(SealError, Place.parse, wrong)
            self.assertIn(f"--reach {wrong}: ", str(error))

    def test_addresses(self) -> None:
        """Each name has an address of its own, whatever its ports; loopback has none."""
        places = [Place("db", 1), Place("localhost", 1), Place("db", 2), Place("queue", 1)]
        self.assertEqual(sealed._addresses(places), {"db": "127.77.0.1", "queue": "127.77.0.2"})
        many = [Place(f"host-{number}", 1) for number in range(MOST_HOSTS + 1)]
        self.assertRaises(SealError, sealed._addresses, many)

    def test_refused(self) -> None:
        """Where the kernel refuses, no process is left that has the output of the command."""
        argv = [sys.executable, "-c", REFUSED]
        done = subprocess.run(
            argv, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        self.assertEqual((done.stdout, done.stderr), ("the kernel refuses\n", ""))

    def test_other_platforms(self) -> None:
        """Elsewhere it says that it is Linux's."""
        self.patch(sys, "platform", "darwin")
        error = self.assertRaises(SealError, sealed.seal, Place("127.0.0.1", 1), [], [])
        self.assertIn("namespaces of Linux", str(error))


class SealedTests(SynchronousTestCase):
    """A command with real namespaces, proxy and server."""

    def setUp(self) -> None:
        if not may_seal():
            raise SkipTest("the kernel lets this user make no namespaces")
        self.proxy = self.enterContext(running_proxy())
        self.server = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        self.port = self.server.getsockname()[1]

    def start(self, *words: str, **environment: str) -> "subprocess.Popen[str]":
        argv = [sys.executable, "-m", "trafficmock", "run", "--sealed", *words]
        return subprocess.Popen(
            argv,
            cwd=REPOSITORY,
            env={**os.environ, "TRAFFICMOCK_PROXY_URL": self.proxy.url, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def said(self, *words: str) -> str:
        output, errors = self.start(*words).communicate(timeout=SECONDS)
        self.assertEqual(errors, NOTE)
        return output

    def tries(self, *words: str) -> dict[str, str]:
        """Tell what a program inside reaches."""
        internet, datagram = socket.AF_INET, socket.SOCK_DGRAM
        proxy = int(self.proxy.url.rsplit(":", 1)[1])
        ways = [
            ("proxy", internet, socket.SOCK_STREAM, ("127.0.0.1", proxy)),
            ("server", internet, socket.SOCK_STREAM, ("127.0.0.1", self.port)),
            ("outside", internet, socket.SOCK_STREAM, ("192.0.2.1", 80)),
            ("datagram", internet, datagram, ("192.0.2.1", 53)),
            ("IPv6", socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 80)),
        ]
        program = [sys.executable, "-c", REACHES, json.dumps(ways)]
        found: dict[str, str] = json.loads(self.said(*words, "--", *program))
        return found

    def test_only_the_proxy(self) -> None:
        """Raw sockets reach the proxy, and neither other servers here nor any elsewhere."""
        found = self.tries()
        self.assertEqual(found.pop("proxy"), "connected")
        self.assertEqual(found.pop("server"), "ConnectionRefusedError")
        self.assertEqual(found.pop("dns"), "gaierror")
        self.assertEqual(set(found.values()), {"OSError"})

    def test_no_way_by_the_proxy(self) -> None:
        """Neither a tunnel of the proxy nor an inherited socket reaches servers out here."""
        proxy = int(self.proxy.url.rsplit(":", 1)[1])
        got: list[bytes] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = self.server.accept()
                    with connection:
                        connection.sendall(b"secret")
                        got.append(connection.recv(65536))
                except OSError:
                    return

        self.server.settimeout(SECONDS)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        inherited = self.enterContext(socket.create_connection(("127.0.0.1", self.port)))
        os.set_inheritable(inherited.fileno(), True)  # noqa: FBT003 - its only form
        words = [json.dumps([proxy, self.port]), str(inherited.fileno())]
        argv = [sys.executable, "-m", "trafficmock", "run", "--sealed", "--"]
        done = subprocess.run(
            [*argv, sys.executable, "-c", TUNNELS, *words],
            cwd=REPOSITORY,
            env={**os.environ, "TRAFFICMOCK_PROXY_URL": self.proxy.url},
            pass_fds=[inherited.fileno()],
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
        )
        found = json.loads(done.stdout)
        self.assertNotIn("sent", found)
        self.assertNotIn("secret", "".join(found))
        inherited.close()
        self.server.close()
        self.assertEqual(b"".join(got), b"")

    def test_no_directory_stays(self) -> None:
        """The file with the names of ``--reach`` is gone when the command has begun."""
        program = "import glob, tempfile; print(glob.glob(tempfile.gettempdir() + '/*-sealed-*'))"
        words = ["--reach", "server.example:80", "--", sys.executable, "-c", program]
        with TemporaryDirectory() as directory:
            command = self.start(*words, TMPDIR=directory)
            output, _ = command.communicate(timeout=SECONDS)
            self.assertEqual((output, [*Path(directory).iterdir()]), ("[]\n", []))

    def test_old_proxy(self) -> None:
        """A proxy that does not know sealed commands is named, and so is one that is silent."""
        for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b""):
            server = self.enterContext(socket.create_server(("127.0.0.1", 0)))

            def serve(server: socket.socket = server, answer: bytes = answer) -> None:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

            threading.Thread(target=serve, daemon=True).start()
            place = Place("127.0.0.1", server.getsockname()[1])
            error = self.assertRaises(SealError, sealed.check_proxy, place, [])
            self.assertIn("does not know sealed commands", str(error))

    def test_reached(self) -> None:
        """A server that is named is reached; its name resolves inside."""
        found = self.tries("--reach", f"localhost:{self.port}", "--reach", "server.example:80")
        self.assertEqual((found["server"], found["dns"]), ("connected", "127.77.0.1"))
        self.assertEqual(found["outside"], "OSError")

    def test_mocked(self) -> None:
        """Requests are decided by the tests; one that no test wants is the proxy's to send."""
        with mocks(self.proxy.url) as trafficmock:
            trafficmock.mock("http://api.example/*", body="mocked")
            trafficmock.route("http://other.example/*", lambda route: route.abort())
            output = self.said("--", sys.executable, "-c", ASKS)
        self.assertEqual(output.splitlines()[0], "mocked")
        self.assertEqual(len(output.splitlines()), 2)

    def test_published(self) -> None:
        """A port of the command can be reached, as long as it runs; the command is the process."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = self.start(
            "--publish", str(port), "--", sys.executable, "-c", SERVES, PORT=str(port)
        )
        assert command.stdout is not None
        self.assertEqual(int(command.stdout.readline()), command.pid)
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            self.assertIn(b" 501 ", client.recv(65536))
        command.communicate(timeout=SECONDS)
        wait_until(lambda: not self.listens(port), "the end of the published port")

    @staticmethod
    def listens(port: int) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    def test_port_taken(self) -> None:
        """A port that is taken outside ends it with one line, before the command starts."""
        words = ["--publish", str(self.port), "--", "true"]
        command = self.start(*words)
        _, errors = command.communicate(timeout=SECONDS)
        self.assertEqual(command.returncode, 1)
        self.assertEqual(
            errors,
            f"{NOTE}trafficmock run: cannot listen on 127.0.0.1:{self.port}: "
            "Address already in use\n",
        )

    def test_large(self) -> None:
        """What passes a relay is unchanged, in both directions, to the end of each."""
        sent = os.urandom(3 * 2**20)
        got = bytearray()

        def serve() -> None:
            connection, _ = self.server.accept()
            with connection:
                while piece := connection.recv(65536):
                    got.extend(piece)
                connection.sendall(bytes(got[::-1]))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        source, target = Path(self.mktemp()), Path(self.mktemp())
        source.write_bytes(sent)
        program = (
            "import socket, sys; c = socket.create_connection(('localhost', int(sys.argv[1])));"
            "c.sendall(open(sys.argv[2], 'rb').read()); c.shutdown(socket.SHUT_WR);"
            "open(sys.argv[3], 'wb').write(c.makefile('rb').read())"
        )
        paths = [str(path.absolute()) for path in (source, target)]
        reach = ["--reach", f"localhost:{self.port}", "--"]
        self.said(*reach, sys.executable, "-c", program, str(self.port), *paths)
        thread.join(SECONDS)
        self.assertEqual((bytes(got), target.read_bytes()), (sent, sent[::-1]))
