"""Cells: a library on a Node in a mode, held against a run without the agent."""

from collections.abc import Iterator, Sequence

from attrs import frozen

from tests.interop.clients.node.bench import Bench, Run
from tests.interop.clients.node.comparison.compare import Change, changes
from tests.interop.clients.node.comparison.differences import Difference, declared, gone
from tests.interop.clients.node.libraries import Library
from tests.interop.clients.node.modes import MODES


@frozen
class Cell:
    """
    What came of a library in a mode.

    :param calls: how many calls were made.
    :param failed: what differs and may not.
    :param declared: the differences that may be, as they came.
    :param gone: declared defects that did not come.
    :param changes: all that differs, declared or not.
    """

    library: Library
    node: int
    mode: str
    calls: int
    failed: tuple[Change, ...]
    declared: tuple[Difference, ...]
    gone: tuple[Difference, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def is_good(self) -> bool:
        """Say whether all is as it is declared."""
        return bool(self.calls) and not (self.failed or self.gone)

    def __str__(self) -> str:
        head = f"{self.library.name}, Node {self.node}, {self.mode}: {self.calls} calls"
        gone = [f"declared, and did not come: {each.reason}" for each in self.gone]
        return "\n  ".join([head, *grouped(self.failed), *gone])


def grouped(changes: Sequence[Change]) -> list[str]:
    """Say each change once, with the calls that have it."""
    calls: dict[str, list[str]] = {}
    for change in changes:
        words = f"{change.path}: {change.was!r:.300} -> {change.now!r:.300}"
        calls.setdefault(words, []).append(change.call or "the program")
    return [f"{words} [{', '.join(found)}]" for words, found in calls.items()]


def cells(
    bench: Bench, library: Library, node: int, modes: Sequence[str], only: str = ""
) -> Iterator[Cell]:
    """Run a library in modes, each but once."""
    runs: dict[str, Run] = {}
    for name in modes:
        mode = MODES[name]
        for each in (mode.against, name):
            if each is not None and each not in runs:
                runs[each] = bench.run(library, node, MODES[each], only)
        assert mode.against is not None
        found = tuple(changes(mode, runs[mode.against], runs[name]))
        yield judged(library, node, name, len(runs[name].calls), found, whole=not only)


def judged(
    library: Library, node: int, mode: str, calls: int, found: tuple[Change, ...], *, whole: bool
) -> Cell:
    """
    Tell the declared differences from the failures.

    :param found: all that differs.
    :param whole: whether all calls were made, so that a declared defect must show.
    """
    known = [(change, declared(library.name, mode, change)) for change in found]
    differences = dict.fromkeys(each for _, each in known if each is not None)
    return Cell(
        library,
        node,
        mode,
        calls,
        tuple(change for change, difference in known if difference is None),
        tuple(differences),
        tuple(gone(library.name, node, mode, differences)) if whole else (),
        found,
    )
