"""The samples of ``tests/data/redaction``: what is given, and what is wanted."""

import base64
import json
import re
from pathlib import Path
from typing import Any

from trafficmock.redaction import marks

KEY = b"0123456789abcdef"

_FILE = Path(__file__).parents[1] / "data" / "redaction" / "samples.json"


def samples() -> list[dict[str, Any]]:
    """Read the samples: what is given, and what is wanted."""
    found: list[dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def wanted(text: str) -> str:
    """Return a text with the marks that it names.

    ``<<secret>>`` is the mark of a secret, ``<user>:<word>@`` has marks of user information, and
    ``!!text!!`` is the base64 of a text.
    """
    text = re.sub(r"<<(.*?)>>", lambda found: marks.mark(found[1], KEY), text, flags=re.DOTALL)
    text = re.sub(r"<([up])>(?=[:@])", lambda found: marks.user_mark(found[1], KEY), text)
    return re.sub("!!(.*)!!", lambda found: base64.b64encode(found[1].encode()).decode(), text)
