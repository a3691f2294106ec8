"""What is dear is made once for all workers."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.support.processes.trial_workers import made_once


class MadeOnceTests(SynchronousTestCase):
    """The first makes it, and the others get a copy."""

    def setUp(self) -> None:
        self.directory = Path(self.mktemp())
        self.directory.mkdir()
        self.made: list[int] = []

    def make(self) -> dict[str, int]:
        self.made.append(threading.get_ident())
        return {"number": len(self.made)}

    def ask(self, name: str = "thing") -> dict[str, int]:
        return made_once(name, self.make, self.directory)

    def test_at_once(self) -> None:
        """Those that ask while it is made wait for it."""
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: self.ask(), range(8)))
        self.assertEqual(answers, [{"number": 1}] * 8)

    def test_names(self) -> None:
        """Each name has its own."""
        self.assertEqual([self.ask(name)["number"] for name in ("a", "b", "a")], [1, 2, 1])

    def test_failure(self) -> None:
        """What failed is tried again by the next."""

        def fail() -> dict[str, int]:
            raise ValueError("not today")

        with self.assertRaises(ValueError):
            made_once("thing", fail, self.directory)
        self.assertEqual(self.ask(), {"number": 1})

    def test_meanwhile(self) -> None:
        """Who would wait makes something else, if nobody else does, and gets what was made."""
        begun, go_on = threading.Event(), threading.Event()

        def slow() -> str:
            begun.set()
            assert go_on.wait(30)
            return "slow"

        def other() -> str:
            go_on.set()
            return "other"

        def never() -> str:
            raise AssertionError("this is being made already")

        meanwhile = [("slow", never), ("other", other)]
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(made_once, "slow", slow, self.directory)
            self.assertTrue(begun.wait(30))
            self.assertEqual(made_once("slow", never, self.directory, meanwhile), "slow")
            self.assertEqual(first.result(), "slow")
        self.assertEqual(made_once("other", never, self.directory), "other")
