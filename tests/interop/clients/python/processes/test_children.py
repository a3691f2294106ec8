"""Processes of ``multiprocessing``, of ``os``, and of ``subprocess``."""

import json

from tests.interop.clients.python.processes.attached_session import SessionCase, until

POOLS = """\
import json, multiprocessing, sys, threading
from concurrent.futures import ProcessPoolExecutor
import requests
def fetch(number):
    return requests.get(f"http://third.test/{number}").text
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    before = fetch(0)
    with context.Pool(2) as pool:
        pooled = pool.map(fetch, range(4))
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        executed = list(pool.map(fetch, range(4)))
    print(json.dumps([before, *pooled, *executed, threading.active_count()]))
"""
WAYS = """\
import json, os, subprocess, sys, tempfile
program = "import urllib.request as r; print(r.urlopen('http://third.test/').read().decode())"
words = [sys.executable, "-c", program]
line = f'"{sys.executable}" -c "{program}"'
bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
def spawned(start):
    with tempfile.TemporaryFile() as out:
        kept = os.dup(1)
        os.dup2(out.fileno(), 1)
        try:
            start()
        finally:
            os.dup2(kept, 1)
        out.seek(0)
        return out.read().decode().strip()
def forked(run):
    child = os.fork()
    if not child:
        run()
        os._exit(1)
    os.waitpid(child, 0)
def posix_spawned():
    os.waitpid(os.posix_spawn(sys.executable, words, os.environ), 0)
said = {
    "subprocess": subprocess.check_output(words, text=True).strip(),
    "bare": subprocess.check_output(words, text=True, env=bare).strip(),
    "shell": subprocess.check_output(line, shell=True, text=True).strip(),
    "system": spawned(lambda: os.system(line)),
    "spawnv": spawned(lambda: os.spawnv(os.P_WAIT, sys.executable, words)),
    "posix_spawn": spawned(posix_spawned),
    "execve": spawned(lambda: forked(lambda: os.execve(sys.executable, words, bare))),
    "execv": spawned(lambda: forked(lambda: os.execv(sys.executable, words))),
}
print(json.dumps(said))
"""
DAEMON = """\
import os, sys, time, urllib.request
if os.fork():
    os._exit(0)
if os.fork():
    os._exit(0)
for number in (0, 1, 2):
    os.close(number)
while os.getppid() != 1 and not os.path.exists("go"):
    time.sleep(0.05)
text = urllib.request.urlopen("http://third.test/").read().decode()
open("part", "w").write(text)
os.rename("part", "said")
"""
ENDS = """\
import asyncio, threading, aiohttp, httpx, requests
assert requests.get("http://third.test/").text == "mocked"
assert httpx.get("https://third.test/").text == "mocked"
async def get():
    async with aiohttp.ClientSession() as session:
        async with session.get("http://third.test/") as answer:
            assert await answer.text() == "mocked"
asyncio.run(get())
kept = requests.Session()
kept.get("http://third.test/")
left = open("left", "w")
left.write(" ".join(thread.name for thread in threading.enumerate()))
"""


class ChildTests(SessionCase):
    """What a process starts or becomes is attached; the preload keeps nobody alive."""

    def setUp(self) -> None:
        super().setUp()
        self.mocks("mocked").route(
            "https://third.test/**", lambda route: route.fulfill(body="mocked")
        )

    def said(self, source: str, *words: str) -> str:
        """Run a program to its end; it leaves no process, and nothing on stderr."""
        (self.folder / "program.py").write_text(source)
        session = self.start("program.py", *words)
        until(lambda: session.process.poll() is not None, "the end", session)
        self.assertEqual((session.process.returncode, session.read("err")), (0, ""))
        until(lambda: not session.members(), "the end of its children", session)
        return session.read("out")

    def check_pool(self, method: str) -> None:
        self.assertEqual(json.loads(self.said(POOLS, method)), ["mocked"] * 9 + [1])
        entries = self.proxy.get("/api/history")["entries"]
        self.assertEqual({entry["clientId"] for entry in entries}, {"program"})

    def test_fork(self) -> None:
        """Pools of processes that are forked; connections of the parent are not used twice."""
        self.check_pool("fork")

    def test_forkserver(self) -> None:
        """Pools of processes that a server forks."""
        self.check_pool("forkserver")

    def test_spawn(self) -> None:
        """Pools of processes that begin anew."""
        self.check_pool("spawn")

    def test_ways(self) -> None:
        """Every way to start a program, also where its environment lost ``PYTHONPATH``."""
        for way, said in json.loads(self.said(WAYS)).items():
            self.assertEqual(said, "mocked", way)

    def test_daemon(self) -> None:
        """A process that has left its parent is attached, and ends when it is done."""
        (self.folder / "program.py").write_text(DAEMON)
        session = self.start("program.py")
        session.process.wait(60)
        (self.folder / "go").touch()
        until((self.folder / "said").exists, "the daemon's request", session)
        self.assertEqual(session.read("said"), "mocked")
        until(lambda: not session.members(), "the daemon's end", session)

    def test_ends(self) -> None:
        """A process with open connections ends by itself, with no thread and no word of ours."""
        self.assertEqual(self.said(ENDS), "")
        self.assertEqual((self.folder / "left").read_text(), "MainThread")
