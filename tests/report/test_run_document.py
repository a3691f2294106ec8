"""One document of the records of several processes."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from twisted.trial.unittest import SynchronousTestCase

from tests.report.records import begin, counts, end, entry, har, test, unowned, worker
from trafficmock.report.run_document import run_document

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "run.schema.json").read_text())
REFUSED = {"kind": "http", "method": "GET", "url": "http://pay.test/", "clientId": "shop"}


def merged(*files: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge, and compare with the published schema."""
    document = run_document(files)
    Draft202012Validator(SCHEMA).validate(document)
    return document


class RunDocumentTests(SynchronousTestCase):
    """What becomes of the records."""

    def test_schema(self) -> None:
        """The published schema is one."""
        Draft202012Validator.check_schema(SCHEMA)

    def test_nothing(self) -> None:
        """A run without a process has a document, too."""
        self.assertEqual(merged()["tests"], [])

    def test_tests(self) -> None:
        """Tests of all workers stand in the order of their start, with their worker."""
        document = merged(
            [begin("gw1"), test("b", 4), end(counts={"passed": 2, "failed": 1})],
            [begin("gw0"), test("a", 3), test("c", 5), end(counts={"failed": 2})],
        )
        told = [(each["id"], each["worker"]) for each in document["tests"]]
        self.assertEqual(told, [("a", "gw0"), ("b", "gw1"), ("c", "gw0")])
        self.assertEqual(document["counts"], {"failed": 3, "passed": 2})

    def test_killed(self) -> None:
        """A process without an end has not ended; what it has written counts."""
        document = merged([begin("gw0"), test("a")], [begin("gw1", 2), end(problem="x")])
        ended = [each["ended"] for each in document["processes"]]
        self.assertEqual((ended, len(document["tests"])), ([False, True], 1))

    def test_several_ends(self) -> None:
        """A thread writes its end after each test; the last one counts."""
        ends = end(counts={"passed": 1}), end(counts={"passed": 1, "failed": 1})
        document = merged([begin("0"), ends[0], test("a"), ends[1]])
        self.assertEqual(document["counts"], {"failed": 1, "passed": 1})

    def test_unowned(self) -> None:
        """What several workers have seen of no test is there once, oldest first."""
        document = merged(
            [begin("gw0"), unowned(entry("r2", 7), entry("r1")), end()],
            [begin("gw1"), unowned(entry("r1"), omitted=3), end()],
        )
        ids = [each["id"] for each in document["unowned"]["requests"]]
        self.assertEqual((ids, document["unowned"]["omitted"]), (["r1", "r2"], 3))

    def test_totals(self) -> None:
        """The run has what its tests had, and what came of no test from its begin to its end."""
        first = worker(
            "p1",
            tests=counts(fulfill=5),
            before=counts(passthrough=7),
            unowned=counts(passthrough=8),
        )
        later = worker(
            "p2",
            tests=counts(fulfill=2, passthrough=1),
            before=counts(passthrough=8),
            unowned=counts(passthrough=10),
        )
        other = worker("q1", unowned=counts(abort=1))
        document = merged(
            [begin("gw0"), end(workers=later)],
            [begin("gw1"), end(workers=first | other)],
            [begin("gw2")],
        )
        decisions = {"abort": 1, "fulfill": 7, "passthrough": 4}
        self.assertEqual(
            document["totals"],
            {
                "requests": {"total": 12, "decisions": decisions, "hosts": {"h.test": decisions}},
                "webSockets": {"total": 0, "decisions": {}, "hosts": {}},
            },
        )

    def test_runs(self) -> None:
        """What came between two runs is of neither; what came in both is there once."""

        def run(name: str, at: int, before: int, after: int) -> list[dict[str, Any]]:
            told = {"before": counts(passthrough=before), "unowned": counts(passthrough=after)}
            return [begin(name, at, runStartedAt=at), end(workers=worker(f"p{name}", **told))]

        first, again = run("0", 1, 10, 12), run("1", 2, 1332, 1333)
        beside, later = run("2", 3, 11, 14), run("3", 4, 1333, 1340)
        for files, total in (
            ([first, again], 3),
            ([again, beside, first], 5),
            ([later, first, again], 10),
            # Two workers of one run, between which something came.
            ([run("0", 1, 10, 12), run("1", 1, 15, 16)], 6),
        ):
            self.assertEqual(merged(*files)["totals"]["requests"]["total"], total)

    def test_refused(self) -> None:
        """A proxy counts refused requests for all workers: the highest count is the latest."""
        document = merged(
            [begin("gw0"), end(refused=[{**REFUSED, "count": 2}], refusedDropped=1)],
            [begin("gw1"), end(refused=[{**REFUSED, "count": 3}])],
        )
        self.assertEqual(document["refused"], [{**REFUSED, "count": 3}])
        self.assertEqual(document["refusedDropped"], 1)

    def test_hars(self) -> None:
        """What tests of all workers have used of a HAR adds up."""
        document = merged(
            [begin("gw0"), har("b.har", 3, 3, 1), har("a.har", 1), end()],
            [begin("gw1"), har("b.har", 4, 1, 2)],
        )
        self.assertEqual(
            document["hars"],
            [
                {"file": "a.har", "entries": 1, "used": []},
                {"file": "b.har", "entries": 4, "used": [1, 2, 3]},
            ],
        )

    @given(st.permutations(range(4)))
    def test_order(self, order: list[int]) -> None:
        """The order in which the files are read does not matter."""
        files = [
            [begin(f"gw{at}", at), test(str(at), at), unowned(entry("r")), end()] for at in range(4)
        ]
        self.assertEqual(merged(*(files[at] for at in order)), merged(*files))
