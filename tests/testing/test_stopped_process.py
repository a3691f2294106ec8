"""A test whose whole process is stopped, as at a breakpoint: its fixed answers are given."""

import os
import signal
import sys
import uuid

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.child_process import Child
from tests.testing.row_context import ask_through, control
from tests.testing.shared_app import shared_app

STOPS = """
import json, os, pathlib, signal, sys
from trafficmock.testing import sync
response = {'status': 200, 'content': {'text': 'recorded'}}
entry = {'request': {'method': 'GET', 'url': sys.argv[2] + '?har'}, 'response': response}
har = pathlib.Path(sys.argv[3])
har.write_text(json.dumps({'log': {'entries': [entry]}}))
with sync.mocks(sys.argv[1], title='stops') as mocks:
    mocks.route_from_har(har, url=sys.argv[2] + '?har')
    mocks.mock(sys.argv[2] + '?chunks', chunks=['in ', 'pieces'], delay=20)
    mocks.mock(sys.argv[2], body='fixed', times=2)
    print('{}', flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    seen = mocks.requests(sys.argv[2] + '*')
    print(json.dumps([each.response().text() for each in seen]), flush=True)
"""


class StoppedProcessTests(SynchronousTestCase):
    """An application with the npm agent, another behind the forward proxy, and a stopped test."""

    def setUp(self) -> None:
        self.node_app = shared_app()
        self.url = f"{self.node_app.upstream_url}/echo/{uuid.uuid4().hex}"
        proxy_url = self.node_app.proxy.url
        command = [sys.executable, "-c", STOPS, proxy_url, self.url, self.mktemp()]
        self.test = Child.start("test", command, env={})
        self.addCleanup(self.test.stop)
        self.addCleanup(self.test.process.send_signal, signal.SIGCONT)

    def test_answers(self) -> None:
        """Both applications get the answers, ``times`` counts, and the test sees all afterwards."""
        self.test.announced()
        _, status = os.waitpid(self.test.process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        by_agent = control(self.node_app.app_url, "request", {"kind": "http", "url": self.url})
        self.assertEqual(by_agent["body"], "fixed")
        self.assertEqual(ask_through(self.node_app.proxy.url, self.url, {}), "fixed")
        self.assertIn('"path"', ask_through(self.node_app.proxy.url, self.url, {}))
        self.assertEqual(ask_through(self.node_app.proxy.url, f"{self.url}?har", {}), "recorded")
        pieces = {"kind": "http", "url": f"{self.url}?chunks"}
        in_node = control(self.node_app.app_url, "request", pieces)
        self.assertEqual(in_node["body"], "in pieces")
        self.assertEqual(ask_through(self.node_app.proxy.url, pieces["url"], {}), "in pieces")
        self.test.process.send_signal(signal.SIGCONT)
        first, second, upstream, recorded, *streamed = self.test.announced()
        self.assertEqual((first, second, recorded), ("fixed", "fixed", "recorded"))
        self.assertEqual(streamed, ["in pieces"] * 2)
        self.assertIn('"path"', upstream)
        self.assertEqual(self.test.process.wait(20), 0, self.test.output())
