"""Run by pytest as a child that is killed: a test that ends when it is told to."""

import json
import os
from pathlib import Path
from typing import Any


def test_that_waits(trafficmock_proxy: Any) -> None:
    note = Path(os.environ["SAMPLE_NOTES"])
    draft = note.with_suffix(".draft")
    draft.write_text(json.dumps({"proxy": trafficmock_proxy.pid}))
    draft.replace(note)
    with Path(os.environ["SAMPLE_GATE"]).open() as gate:
        gate.readline()
