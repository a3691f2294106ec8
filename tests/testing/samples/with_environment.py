"""Run by pytest as a child: what the fixture ``trafficmock_env`` gives, written to a file."""

import json
import os
from pathlib import Path
from typing import Any


def test_environment(trafficmock_env: Any) -> None:
    environment = trafficmock_env(client_id=os.environ["SAMPLE_CLIENT_ID"])
    Path(os.environ["SAMPLE_NOTES"]).write_text(json.dumps(environment))
