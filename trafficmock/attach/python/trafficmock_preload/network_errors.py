"""Written from ``NETWORK_ERRORS`` of the wire by ``tools.facts``: do not edit."""

NETWORK_ERRORS = {
    "failed": "ECONNRESET",
    "connectionreset": "ECONNRESET",
    "aborted": "ECONNABORTED",
    "timedout": "ETIMEDOUT",
    "connectionrefused": "ECONNREFUSED",
    "namenotresolved": "ENOTFOUND",
}
"""The name of the error for each abort code of protocol 3."""

AFTER_CONNECTING = ["ECONNRESET", "ECONNABORTED"]
"""Those that come when the request was sent."""
