"""Messages of parallel tests: what handles a message asks for its own test, or for nobody."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

from attrs import frozen
from twisted.trial.unittest import SynchronousTestCase

from tests.interop.clients.opentelemetry.frameworks import PATIENT
from tests.interop.clients.python.messages import brokers
from tests.interop.clients.python.test_services import python
from tests.interop.clients.python.ways.owners import (
    NOBODY,
    SECONDS,
    owners_by_way,
    result,
    told_by_way,
)
from tests.support.hypothesis_profiles import DEEP
from tests.support.processes.child_process import Child
from tests.support.processes.proxy_process import REPOSITORY, running_proxy
from trafficmock.attach.python_preload import DIRECTORY
from trafficmock.testing import sync

HERE = "tests.interop.clients.python.messages"
CONTEXT_MS = "300"
"""So short that tasks which run later show that they do not need the request's time."""


@frozen
class Library:
    """A library with its broker.

    :param env: variables of its module.
    :param worker: the words of the process that handles the messages, after the interpreter.
    :param nobodys: the ways in which a message has no context.
    :param told: what the doctor says of each of them.
    """

    name: str
    env: dict[str, str]
    worker: Sequence[str] = ()
    nobodys: Collection[str] = ()
    python: str = sys.executable
    told: str = ""


class MessageCase(SynchronousTestCase):
    """An application that sends messages, and a worker that handles them."""

    def found(
        self, library: Library, tests: str, rounds: int, only: Collection[str] = ()
    ) -> dict[str, str]:
        """Send messages in each way, for all tests at once and for nobody.

        :returns: what came of each way.
        """
        with ExitStack() as stack:
            proxy = stack.enter_context(running_proxy("--history-limit=1000", *PATIENT))
            mocks = {each: stack.enter_context(sync.mocks(proxy.url, title=each)) for each in tests}
            for name, each in mocks.items():
                each.mock("http://api.shop.test/**", body=name)
            env = {
                "TRAFFICMOCK_PROXY_URL": proxy.url,
                "TRAFFICMOCK_CONTEXT_MS": CONTEXT_MS,
                "PYTHONPATH": f"{DIRECTORY}:{REPOSITORY}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "LIBRARY": library.name,
                "WORKS": "" if library.worker else "1",
                **library.env,
            }
            python, folder = library.python, REPOSITORY
            if library.worker:
                words = [python, "-m", *library.worker]
                worker = Child.start("worker", words, env=env, announces=False, cwd=folder)
                stack.callback(worker.stop)
            web = Child.start("web", [python, "-m", f"{HERE}.application"], env=env, cwd=folder)
            stack.callback(web.stop)
            announced = web.announced()
            ways = list(only) or announced["ways"]
            headers: dict[str, dict[str, str]] = {NOBODY: {}}
            headers |= {name: each.headers for name, each in mocks.items()}
            send_all(announced["port"], ways * rounds, headers)
            owners = owners_by_way(proxy.url, len(ways) * rounds * len(headers))
            told = told_by_way(proxy.url)
            for each in mocks.values():
                each.unroute_all()
                each.take_errors()
        for way in library.nobodys if library.told else ():
            self.assertNotEqual(told[way], set(), way)
            for text in told[way]:
                self.assertIn(library.told, text, way)
        return {way: result(owners[way], tests) for way in ways}

    def check(self, library: Library, only: Collection[str] = ()) -> None:
        """Messages of four tests are their tests', but for those that are known to be nobody's."""
        found = self.found(library, tests="ABCD", rounds=3, only=only)
        expected = {way: "lost" if way in library.nobodys else "right" for way in found}
        self.assertEqual(found, expected)


def send_all(port: int, ways: Sequence[str], headers: dict[str, dict[str, str]]) -> None:
    """Have a message sent in each way, for all at once."""

    def send(way: str, who: str) -> None:
        query = urlencode({"way": way, "who": who})
        request: Any = Request(f"http://127.0.0.1:{port}/?{query}", headers=headers[who])
        with build_opener(ProxyHandler({})).open(request, timeout=SECONDS) as answer:
            answer.read()

    with ThreadPoolExecutor(len(headers)) as pool:
        for way in ways:
            for sent in [pool.submit(send, way, who) for who in headers]:
                sent.result(SECONDS)


def celery(env: dict[str, str], pool: str = "threads") -> Library:
    """Give Celery with a worker of four threads or processes."""
    module = f"{HERE}.celery_messages"
    quick = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    options = ("--pool", pool, "--concurrency", "4", "--loglevel", "ERROR", *quick)
    worker = ("celery", "--app", module, "worker", *options)
    return Library("celery", env, worker, nobodys=("baggage that is no text",))


class CeleryTests(MessageCase):
    """Tasks of Celery."""

    if find_spec("celery") is None:
        skip = "celery is not installed"

    def redis(self) -> dict[str, str]:
        url = self.enterContext(brokers.redis())
        return {"BROKER": f"{url}/0", "BACKEND": f"{url}/1"}

    def test_celery(self) -> None:
        """Tasks, also retried and of a chain, belong to the tests whose pages lead to them."""
        only = ("delay", "retry", "chain")
        found = self.found(celery(self.redis()), tests="AB", rounds=1, only=only)
        self.assertEqual(found, dict.fromkeys(only, "right"))

    def test_redis(self) -> None:
        """All ways over Redis, in threads and in processes of the worker."""
        for pool in ("threads", "prefork"):
            self.check(celery(self.redis(), pool))

    def test_rabbitmq(self) -> None:
        """All ways over RabbitMQ."""
        for pool in ("threads", "prefork"):
            self.check(celery({"BROKER": self.enterContext(brokers.rabbitmq())}, pool))

    def test_memory(self) -> None:
        """All ways within the application's process."""
        env = {"BROKER": "memory://", "BACKEND": "cache+memory://"}
        self.check(Library("celery", env, nobodys=("baggage that is no text",)))

    if brokers.REDIS is None:
        test_celery.skip = test_redis.skip = "redis-server is not installed"  # type: ignore[attr-defined]
    if not brokers.RABBITMQ.exists():
        test_rabbitmq.skip = "rabbitmq-server is not installed"  # type: ignore[attr-defined]
    if not DEEP:
        for each in (test_redis, test_rabbitmq, test_memory):
            each.skip = "only with TRAFFICMOCK_DEEP=1"  # type: ignore[attr-defined]


class OtherQueueTests(MessageCase):
    """RQ, Dramatiq and boto3."""

    def test_rq(self) -> None:
        """Jobs of RQ."""
        url = self.enterContext(brokers.redis())
        options = ("--worker-class", "rq.SimpleWorker", "--quiet", "--with-scheduler")
        worker = ("rq.cli", "worker", *options, "--url", url)
        self.check(Library("rq", {"BROKER": url}, worker, python=python()))

    def check_dramatiq(self, url: str) -> None:
        worker = ("dramatiq", f"{HERE}.dramatiq_messages", "--processes", "1", "--threads", "4")
        self.check(Library("dramatiq", {"BROKER": url}, worker, python=python()))

    def test_dramatiq(self) -> None:
        """Messages of Dramatiq over Redis."""
        self.check_dramatiq(self.enterContext(brokers.redis()))

    def test_dramatiq_rabbitmq(self) -> None:
        """Messages of Dramatiq over RabbitMQ."""
        self.check_dramatiq(self.enterContext(brokers.rabbitmq()))

    def test_boto3(self) -> None:
        """Messages of SQS and SNS, by clients and resources."""
        env = {
            "AWS_ENDPOINT_URL": self.enterContext(brokers.aws(python())),
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "TRAFFICMOCK_IGNORE_HOSTS": brokers.HOST,
        }
        nobodys = ("ten attributes", "by index", "object by index")
        worker = (f"{HERE}.sqs_messages",)
        said = "left from a thread that receives messages of SQS, started at "
        self.check(Library("sqs", env, worker, nobodys, python(), said))

    if brokers.REDIS is None:
        test_rq.skip = test_dramatiq.skip = "redis-server is not installed"  # type: ignore[attr-defined]
    if not brokers.RABBITMQ.exists():
        test_dramatiq_rabbitmq.skip = "rabbitmq-server is not installed"  # type: ignore[attr-defined]
    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"
