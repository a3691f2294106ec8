"""Take out of values what differs from run to run, with the agent or without."""

import re
from typing import Any

_VOLATILE = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UUID"),
    # Boundaries of multipart bodies, as undici, form-data and axios make them.
    (
        re.compile(
            r"(?:-{2,}|(?<=boundary=))"
            r"(?:\w*[Bb]oundary[-\w]*|form-data-encoder-\w+|formdata-undici-\d+"
            r"|-*[0-9a-f]{20,}|axios-[-.\w]+)"
        ),
        "BOUNDARY",
    ),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "TIME"),
    (re.compile(r"\b20\d{6}T\d{6}Z"), "TIME"),
    (re.compile(r"\b\w{3}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT"), "TIME"),
    # The ids of a trace, in `traceparent`.
    (re.compile(r"\b00-[0-9a-f]{32}-[0-9a-f]{16}-01\b"), "TRACE"),
    (re.compile(r"\(node:\d+\)"), "(node:PID)"),
    (re.compile(r"(?<=time=)[\d.]+(?=ms\b)"), "TIME"),
    (re.compile(r"(?<=Signature=)[0-9a-f]{64}"), "SIGNATURE"),
)


def normal(value: Any) -> Any:
    """Give a value with a word in place of everything that is new in each run."""
    if isinstance(value, str):
        for pattern, word in _VOLATILE:
            value = pattern.sub(word, value)
        return value
    if isinstance(value, list):
        return [normal(each) for each in value]
    if isinstance(value, dict):
        return {key: normal(each) for key, each in value.items()}
    return value
