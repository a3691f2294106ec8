"""Greenlets: the context of whoever starts them, with stand-ins for gevent and eventlet.

The deep tests of ``tests.interop.clients.python.background`` have the libraries themselves.
"""

from __future__ import annotations

import json
import queue
from base64 import b64decode
from importlib import import_module
from types import ModuleType
from typing import Any

from trafficmock_preload import sending_code
from trafficmock_preload.background import greenlets

from tests.attach.python.trafficmock_preload.test_queue_contexts import QueueCase, copied

RawGreenlet: Any = import_module("greenlet").greenlet


class Made(RawGreenlet):
    """A greenlet as gevent and eventlet make them."""

    def __init__(self, run: Any = None) -> None:
        RawGreenlet.__init__(self, run or self.main)
        self.links: list[Any] = []

    def main(self, function: Any) -> None:
        function()

    def link(self, callback: Any) -> None:
        self.links.append(callback)

    def unlink(self, callback: Any) -> None:
        self.links.remove(callback)


class GreenletTests(QueueCase):
    """What runs in another greenlet."""

    def module(self, **names: Any) -> ModuleType:
        made = ModuleType("library")
        made.__dict__.update(names)
        return made

    def test_gevent(self) -> None:
        """A greenlet of gevent has the context in which it is made, and so has a callback."""
        module = self.module(Greenlet=Made)
        greenlets.change_gevent(module, self.contexts)
        self.check(module.__dict__["Greenlet"])

    def check(self, kind: Any) -> None:
        for name in ("b", None):
            self.seen.clear()
            self.enter(name)
            made = kind(self.note)
            made.link(self.note)
            self.enter("a")
            made.switch()
            for each in made.links:
                each()
            self.assertEqual(self.seen, [name, name])
            made.unlink(self.note)
            self.assertEqual(made.links, [])

    def test_eventlet(self) -> None:
        """So it is with those of eventlet, also without a class."""

        def spawn_n(_: float, function: Any) -> Any:
            return Made(function)

        kind = type("GreenThread", (Made,), {})
        module = self.module(GreenThread=kind, _spawn_n=spawn_n)
        greenlets.change_eventlet(module, self.contexts)
        self.check(kind)
        self.seen.clear()
        self.enter("b")
        made = module.__dict__["_spawn_n"](0, self.note)
        self.enter("a")
        made.switch()
        self.assertEqual(self.seen, ["b"])

    def test_jobs(self) -> None:
        """Jobs of pools of threads, and of groups that map, have the context of their giver."""

        class ThreadPool:
            def spawn(self, function: Any) -> Any:
                return function

        class GroupMappingMixin:
            def imap(self, function: Any) -> Any:
                return function

            imap_unordered = imap

        greenlets.change_gevent_pools(self.module(ThreadPool=ThreadPool), self.contexts)
        module = self.module(GroupMappingMixin=GroupMappingMixin)
        greenlets.change_gevent_groups(module, self.contexts)
        self.enter("b")
        jobs = [
            ThreadPool().spawn(self.note),
            GroupMappingMixin().imap(self.note),
            GroupMappingMixin().imap_unordered(self.note),
        ]
        self.enter("a")
        for each in jobs:
            each()
        self.assertEqual(self.seen, ["b"] * 3)

    def test_origin(self) -> None:
        """The doctor names the greenlet, not the thread that gevent has for it."""
        found: list[Any] = []

        def tell() -> None:
            found.append(json.loads(b64decode(sending_code.coded(None, None))))

        Made(tell).switch()
        self.assertEqual((found[0]["kind"], found[0]["name"]), ("task", "Made"))

    def test_queues(self) -> None:
        """A greenlet that takes jobs in a loop has the context of whoever put them."""
        gevent = copied(queue, "Queue", "SimpleQueue", "PriorityQueue")
        gevent.JoinableQueue = gevent.Queue
        greenlets.change_gevent_queues(gevent, self.contexts)
        eventlet = copied(queue, "Queue", "LifoQueue")
        eventlet.LightQueue = eventlet.Queue
        greenlets.change_eventlet_queues(eventlet, self.contexts)
        module = self.module(Greenlet=Made)
        greenlets.change_gevent(module, self.contexts)
        for kind in (gevent.Queue, gevent.SimpleQueue, eventlet.LightQueue):
            self.seen.clear()
            jobs = kind()
            for number, name in enumerate(("b", None, "a")):
                self.enter(name)
                jobs.put(number + 1000)
            self.enter(None)
            jobs.put(None)

            def consume(jobs: Any = jobs) -> None:
                while jobs.get() is not None:
                    self.note()
                try:
                    jobs.get(False)
                except queue.Empty:
                    self.note()

            module.__dict__["Greenlet"](consume).switch()
            self.assertEqual(self.seen, ["b", None, "a", None], kind)
        full = gevent.Queue(1)
        full.put_nowait(1)
        self.assertRaises(queue.Full, full.put, 2, block=False)
        self.assertEqual(full.get_nowait(), 1)
