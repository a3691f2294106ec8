"""Warns that a list of requests may be incomplete."""

from __future__ import annotations

import warnings

from trafficmock.testing.objects.call_place import frame_of_call
from trafficmock.testing.session.session import Session


def warn_of_capture(session: Session) -> None:
    """Warn that a list of requests may be incomplete where the history does not keep everything."""
    if session.recorded.capture is not None:
        text = f"the proxy keeps only part of the traffic (capture: {session.recorded.capture})"
        _, level = frame_of_call()
        warnings.warn(text, stacklevel=level)
