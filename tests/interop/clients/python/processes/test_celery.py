"""Celery: its workers are attached, and a message of its broker carries the context of a test."""

from tests.interop.clients.python.processes.attached_session import (
    AttachedSession,
    SessionCase,
    until,
)

SHOP = """\
from urllib.request import urlopen
from celery import Celery
from flask import Flask
app = Celery("shop", broker="filesystem://", backend="file://FOLDER/results")
options = {"data_folder_in": "FOLDER/queue", "data_folder_out": "FOLDER/queue"}
options["control_folder"] = "FOLDER/control"
app.conf.update(broker_transport_options=options, task_always_eager=EAGER)
@app.task
def fetch():
    return urlopen("http://third.test/").read().decode()
application = Flask(__name__)
@application.get("/page")
def page():
    return fetch.delay().get(timeout=30)
"""


class CeleryTests(SessionCase):
    """A view that waits for a task, whose request tests mock."""

    def start_server(self, *, eager: bool) -> AttachedSession:
        folders = [self.folder / name for name in ("queue", "control", "results", "worker")]
        for folder in folders:
            folder.mkdir()
        source = SHOP.replace("FOLDER", str(self.folder)).replace("EAGER", str(eager))
        for folder in (self.folder, folders[-1]):
            (folder / "shop.py").write_text(source)
        port = ("--port", str(self.port))
        return self.start("-m", "flask", "--app", "shop:application", "run", *port)

    def test_worker(self) -> None:
        """A task belongs to the test whose request enqueued it, also beside another one."""
        server, first = self.start_server(eager=False), self.mocks("first")
        words = ["-m", "celery", "--app", "shop", "worker", "--loglevel", "ERROR"]
        worker = AttachedSession.start(words, self.folder / "worker", self.proxy.url)
        self.addCleanup(worker.kill)
        until(lambda: self.load(first) == "first", "a page", server)
        second = self.mocks("second")
        answers = [self.load(each) for each in (first, second, first)]
        self.assertEqual(answers, ["first", "second", "first"])
        self.assertEqual(worker.end(), [], worker.read("err"))

    def test_eager(self) -> None:
        """A task that runs in the view's own process keeps the context."""
        server = self.start_server(eager=True)
        tests = [self.mocks(f"of {number}") for number in range(2)]
        until(lambda: self.load(tests[0]) == "of 0", "a page", server)
        self.assertEqual([self.load(each) for each in tests], ["of 0", "of 1"])
