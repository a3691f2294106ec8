"""Finds the entries of a HAR that no test of a run has used."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from trafficmock.errors import LocalError
from trafficmock.redaction.redactor import Redactor
from trafficmock.report.har_reader import read_har


@frozen
class HarCheck:
    """What a run has used of a HAR.

    :param total: the number of its entries with a request.
    :param unused: method and URL of those that were not used, by their numbers from 1.
    :param is_known: whether a test of the run has replayed or recorded the HAR at all.
    """

    total: int
    unused: Mapping[int, str]
    is_known: bool


def check_har(path: Path, run: Mapping[str, Any], base: Path) -> HarCheck:
    """Compare a HAR with the report of a run.

    :param run: the document of the run.
    :param base: the directory in which the run began; the report has paths from there.
    :raises LocalError: the file is no HAR, or has changed since the run.
    """
    wanted = (base / path).resolve()
    uses = [each for each in run.get("hars", ()) if (base / each["file"]).resolve() == wanted]
    used = {number for each in uses for number in each["used"]}
    entries = {
        int(each["id"].removeprefix("har-")): each["request"]
        for each in read_har(base / path)["unowned"]["requests"]
    }
    last, then = max(entries, default=0), max((each["entries"] for each in uses), default=0)
    if uses and (last > then or max(used, default=0) > last):
        raise LocalError(f"{path} has changed since the run: run the tests again")
    redactor = Redactor()
    unused = {
        number: f"{request['method']} {redactor.url(request['url'])}"
        for number, request in entries.items()
        if number not in used
    }
    return HarCheck(len(entries), unused, bool(uses))
