"""The table of client by fault, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from tests.interop.clients.clients import Client
from tests.interop.clients.faults.outcomes import Outcome
from tests.support.failing_server import SERVER_FAULTS, ServerFault

HEADS = (
    "Client",
    "Way in",
    *(f"`{each.kind}`{' in the body' if each.has_part else ''}" for each in SERVER_FAULTS[:2]),
    *(f"`{each.kind}`" for each in SERVER_FAULTS[2:]),
)
FAILED = "FAILED"


@frozen
class ClientFaults:
    """What came of each fault, for a client on a way in."""

    client: Client
    way: str
    outcomes: Mapping[ServerFault, Outcome]


def fault_table(found: Sequence[ClientFaults]) -> str:
    """
    Write the table.

    A cell has the error that the application catches, and its last cause. Below the table are the
    reasons of cells that have none, and the errors that are others than those of the real server.
    """
    lines = [f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    notes: dict[str, int] = {}
    for each in found:
        cells = [_cell(each.outcomes[fault], notes) for fault in SERVER_FAULTS]
        lines.append(f"| {' | '.join((each.client.title, each.way, *cells))} |")
    reasons = [f"{number}. {reason}" for reason, number in notes.items()]
    return "\n".join([*lines, *(["", *reasons] if reasons else [])]) + "\n"


def _cell(outcome: Outcome, notes: dict[str, int]) -> str:
    if outcome.reason:
        return f"- {_note(outcome.reason, notes)}"
    if not outcome.is_faithful:
        return f"{FAILED}: {outcome.real}, {outcome.mock}, {outcome.continued}"
    text = _named(outcome.mock)
    if outcome.mock[0] == outcome.real[0]:
        return text
    return f"{text} {_note(f'without the proxy {_named(outcome.real)}', notes)}"


def _named(causes: Sequence[str]) -> str:
    return " of ".join(f"`{name}`" for name in dict.fromkeys((causes[0], causes[-1])))


def _note(text: str, notes: dict[str, int]) -> str:
    return f"[{notes.setdefault(text, len(notes) + 1)}]"
