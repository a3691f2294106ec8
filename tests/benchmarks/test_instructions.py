"""What is counted of callgrind's output."""

from twisted.trial.unittest import SynchronousTestCase

from benchmarks.commands.instructions import _of_collections

_OUTPUT = """\
fn=(5) object_new
10 20
cfn=(7) gc_collect_main
calls=1 0
10 4000
fn=(7)
12 3000
cfn=(8) visit
calls=9 0
12 1000
fn=(9) gc_collect
cfn=(7)
calls=2 0
30 500
totals: 4520
"""


class CollectionTests(SynchronousTestCase):
    """Collections of garbage are not counted."""

    def test_calls(self) -> None:
        """All that the collector did counts, once."""
        self.assertEqual(_of_collections(_OUTPUT), 4500)

    def test_none(self) -> None:
        """Without a collection, or without symbols, nothing is taken away."""
        self.assertEqual(_of_collections("fn=(5) object_new\n10 20\ntotals: 20\n"), 0)
