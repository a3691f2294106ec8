"""Finds the entry for an id on the command line: a whole id, or a unique beginning of one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from trafficmock.command.arguments import proxy
from trafficmock.command.exit_status import NOTHING, CommandError
from trafficmock.command.rest.list_resources import REQUESTS, SOCKETS, Listing
from trafficmock.command.rest.rest_client import RestClient, entry_path
from trafficmock.texts.message_text import printable

COMPLETION_SECONDS = 1.0
"""How long a completion in a shell waits for the proxy."""

_SHOWN = 5


@frozen
class Found:
    """An entry that was found.

    :param document: the proxy's response, with the entry under the listing's ``one``.
    """

    listing: Listing
    document: dict[str, Any] = field(repr=False)

    @property
    def entry(self) -> dict[str, Any]:
        entry: dict[str, Any] = self.document[self.listing.one]
        return entry


def find(
    client: RestClient, given: str, listings: Sequence[Listing] = (REQUESTS, SOCKETS)
) -> Found:
    """Find an entry by its id, or by a unique beginning of its id.

    :param listings: the lists to search.
    :raises CommandError: if there is none, or more than one; with status 1.
    """
    if not given:
        raise CommandError("an id is not empty", status=NOTHING)
    for listing in listings:
        found = _ask(client, listing, given)
        if found:
            return found
    begins = [
        (listing, str(entry["id"]))
        for listing in listings
        for entry in listing.get(client, {})
        if entry["id"].startswith(given)
    ]
    if len(begins) > 1:
        shown = ", ".join(printable(entry_id) for _, entry_id in begins[:_SHOWN])
        more = f" and {len(begins) - _SHOWN} more" if len(begins) > _SHOWN else ""
        raise CommandError(f"{printable(given)} is the beginning of {shown}{more}", status=NOTHING)
    for listing, entry_id in begins:
        found = _ask(client, listing, entry_id)
        if found:
            return found
    raise CommandError(f"nothing with the id {printable(given)} is recorded", status=NOTHING)


def newest(client: RestClient) -> Found:
    """Find the newest entry of both lists.

    :raises CommandError: if nothing is recorded; with status 1.
    """
    first = [
        (each, entry) for each in (REQUESTS, SOCKETS) for entry in each.get(client, {"limit": 1})
    ]
    for listing, entry in sorted(first, key=lambda found: -int(found[1]["timestamp"])):
        found = _ask(client, listing, str(entry["id"]))
        if found:
            return found
    raise CommandError("nothing is recorded", status=NOTHING)


def _ask(client: RestClient, listing: Listing, entry_id: str) -> Found | None:
    answer = client.get(entry_path(listing.kind, entry_id))
    if not answer.found:
        return None
    if not isinstance(answer.document.get(listing.one), dict):
        raise client.not_a_proxy_error()
    return Found(listing, answer.document)


def completed_ids(prefix: str, parsed_args: argparse.Namespace, **_more: Any) -> list[str]:
    """List the ids with a beginning, as the completer of argcomplete.

    :param prefix: the typed beginning.
    :returns: an empty list, if the proxy does not answer within :data:`COMPLETION_SECONDS`.
    """
    listings = [REQUESTS] if hasattr(parsed_args, "chain") else [REQUESTS, SOCKETS]
    try:
        client = proxy(parsed_args)
        client.seconds = COMPLETION_SECONDS
        found = [str(entry["id"]) for each in listings for entry in each.get(client, {})]
    except CommandError:
        return []
    return [each for each in found if each.startswith(prefix) and each.isprintable()]
