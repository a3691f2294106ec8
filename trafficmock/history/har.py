"""HAR 1.2 of one entry."""

import re
from typing import Any

from msgspec import UNSET

from trafficmock.history.requests import RequestEntry


def har_available(entry: RequestEntry) -> bool:
    """Tell whether there is a response to make a HAR of (protocol 3)."""
    return entry.record.outcome.response is not UNSET


def har_filename(entry_id: str) -> str:
    """Name the file of an entry's HAR: safe on every file system, and not too long."""
    return f"trafficmock-{re.sub(r'[^A-Za-z0-9._-]+', '_', entry_id)[:64]}.har"


def to_har(entry: RequestEntry, *, version: str) -> dict[str, Any]:
    """Make a HAR of one entry."""
    return {"log": {"version": "1.2", "creator": {"name": "trafficmock", "version": version}}}
