"""The options of ``twistd -n trafficmock-dashboard``."""

from __future__ import annotations

import os
import re
from typing import Any, ClassVar

from twisted.python import usage

from trafficmock.attach.agent_variables import DEFAULT_PROXY_URL, URL_VARIABLES, proxy_url_variable
from trafficmock.coercers import Coerce, choice, named, not_empty, number
from trafficmock.http.hosts import parse_authority
from trafficmock.server.process.log_observers import LEVELS
from trafficmock.server.service_options import ServiceOptions
from trafficmock.texts.message_text import without_credentials

_URL = re.compile(r"http://(?P<authority>[^/?#@]+)/?", re.IGNORECASE)


def proxy_url(text: str) -> str:
    """Parse the proxy's base URL.

    :returns: the URL without a final slash.
    :raises ValueError: if it is not an http URL of a host and port alone.
    """
    found = _URL.fullmatch(text)
    if found is None or parse_authority(found["authority"]) is None:
        raise ValueError(f"like {DEFAULT_PROXY_URL}, not {without_credentials(text)!r}")
    return f"http://{found['authority']}"


_PARAMETERS: list[tuple[str, Any, Coerce, str]] = [
    ("host", "127.0.0.1", not_empty, "Address to listen on."),
    ("port", 4311, number(0, 65535), "Port to listen on; 0 takes a free one."),
    ("endpoint", None, not_empty, "Twisted endpoint to listen on instead of host and port."),
    (
        "proxy-url",
        None,
        proxy_url,
        f"Base URL of the proxy; or set {URL_VARIABLES[0]} (default {DEFAULT_PROXY_URL}).",
    ),
    ("ready-file", None, not_empty, "File that gets one JSON line with url and pid."),
    ("log-level", "info", choice(*LEVELS), f"How much to log: {', '.join(LEVELS)}."),
]


class DashboardOptions(ServiceOptions):
    """Options of the dashboard."""

    synopsis = "[options]"
    longdesc = "Pages that show, in a browser, the traffic that the trafficmock proxy records."
    optParameters: ClassVar[list[list[Any]]] = [  # noqa: N815 - Twisted's
        [name, None, default, text, named(name, coerce)]
        for name, default, coerce, text in _PARAMETERS
    ]
    optFlags: ClassVar[list[list[Any]]] = [  # noqa: N815 - Twisted's
        ["open-history", None, "Show the recorded traffic to other machines too."],
        ["log-json", None, "Write the log as lines of JSON."],
    ]

    def postOptions(self) -> None:  # noqa: N802 - Twisted's
        """Set the proxy's URL from the environment if it is not given, and twistd's options.

        :raises usage.UsageError: if the URL in the environment is not valid.
        """
        if self["proxy-url"] is None:
            variable = proxy_url_variable(os.environ)
            try:
                self["proxy-url"] = proxy_url(
                    os.environ[variable] if variable else DEFAULT_PROXY_URL
                )
            except ValueError as error:
                raise usage.UsageError(f"{variable} must be {error}") from None
        super().postOptions()
