"""Servers that leave their terminal and session, and such that are started by another one."""

import os
import signal
from pathlib import Path

from tests.interop.clients.python.processes.attached_session import (
    AttachedSession,
    SessionCase,
    kill_processes,
    processes_in,
    until,
)
from tests.interop.clients.python.test_services import python
from tests.support.processes.proxy_process import free_port

SHOP = """\
from urllib.request import urlopen
from flask import Flask
application = Flask(__name__)
@application.get("/page")
def page():
    return urlopen("http://third.test/").read().decode()
"""
MULE = """\
import os
from urllib.request import urlopen
text = urlopen("http://fourth.test/").read().decode()
with open("part", "w") as part:
    part.write(text)
os.rename("part", "said")
"""
SUPERVISOR = """\
[supervisord]
pidfile=pid
[program:flask]
command={python} -m flask --app shop:application run --port {port}
[program:gunicorn]
command=/bin/sh -c "exec {python} -m gunicorn --workers 2 --bind 127.0.0.1:{other} shop:application"
stopasgroup=true
"""
VASSAL = """\
[uwsgi]
http-socket = 127.0.0.1:{port}
chdir = {folder}
module = shop:application
master = true
threads = 4
die-on-term = true
"""
BECOME = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"


class DaemonTests(SessionCase):
    """Whatever a server does at its start, it is attached and isolated, and ends when it is told.

    Its first process ends at once; the last one writes its process id to the file ``pid``.
    """

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "shop.py").write_text(SHOP)
        self.addCleanup(kill_processes, self.folder)
        self.tests = [self.mocks(f"of {number}") for number in range(2)]

    def run_daemon(self, *words: str) -> AttachedSession:
        session = self.start(*words)
        self.assertEqual(session.process.wait(60), 0, session.read("err"))
        return session

    def check(self, session: AttachedSession, *ports: int) -> None:
        """Load the pages of both tests from each server, and end the daemon."""
        for self.port in ports:
            until(lambda: self.load(self.tests[0]) == "of 0", f"a page of {self.port}", session)
            pages = [self.load(test) for _ in range(4) for test in self.tests]
            self.assertEqual(pages, ["of 0", "of 1"] * 4)
        os.kill(int((self.folder / "pid").read_text()), signal.SIGTERM)
        until(lambda: not processes_in(self.folder), "the end of the daemon", session)
        self.assertNotIn("trafficmock", session.read("out") + session.read("err"))

    def test_gunicorn(self) -> None:
        """``gunicorn --daemon``."""
        bind = ("--bind", f"127.0.0.1:{self.port}", "--workers", "2")
        session = self.run_daemon(
            "-m", "gunicorn", "--daemon", "--pid", "pid", *bind, "shop:application"
        )
        self.check(session, self.port)

    @property
    def uwsgi(self) -> str:
        return str(Path(python()).parent / "pyuwsgi")

    def run_uwsgi(self, *words: str) -> AttachedSession:
        ends = ("--die-on-term", "--daemonize", "log", "--pidfile", "pid")
        return self.run_daemon("-c", BECOME, self.uwsgi, "--master", *ends, *words)

    def test_uwsgi(self) -> None:
        """A daemon of uWSGI, with a router, applications loaded late, and a mule."""
        (self.folder / "mule.py").write_text(MULE)
        self.tests[0].route("http://fourth.test/", lambda route: route.fulfill(body="seen"))
        workers = ("--processes", "2", "--lazy-apps", "--mule=mule.py")
        session = self.run_uwsgi(
            "--http", f"127.0.0.1:{self.port}", *workers, "--module", "shop:application"
        )
        until((self.folder / "said").exists, "the mule's request", session)
        self.assertEqual(session.read("said"), "seen")
        # uWSGI waits a minute for a worker that is told to end while it loads its application.
        loaded = "WSGI app 0 (mountpoint='') ready"
        until(lambda: session.read("log").count(loaded) == 2, "both workers", session)
        self.check(session, self.port)

    def test_uwsgi_emperor(self) -> None:
        """A daemon of uWSGI that starts another one for each file of a directory."""
        (self.folder / "vassals").mkdir()
        vassal = VASSAL.format(port=self.port, folder=self.folder)
        (self.folder / "vassals" / "shop.ini").write_text(vassal)
        # This uWSGI is a module, whose own program would be that of Python.
        session = self.run_uwsgi("--emperor", "vassals", "--emperor-wrapper", self.uwsgi)
        self.check(session, self.port)

    def test_supervisor(self) -> None:
        """Supervisor, which starts one server itself, and one through a shell."""
        ports = {"port": self.port, "other": free_port()}
        (self.folder / "conf").write_text(SUPERVISOR.format(python=python(), **ports))
        session = self.run_daemon("-m", "supervisor.supervisord", "-c", "conf")
        self.check(session, *ports.values())
