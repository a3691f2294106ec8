"""Requests the health and the certificate of a proxy, which may be on another machine."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import Any

from trafficmock.attach.agent_variables import DEFAULT_PROXY_URL
from trafficmock.connection_errors import why
from trafficmock.errors import LocalError
from trafficmock.texts.message_text import without_credentials

ANSWER_SECONDS = 2.0
MOST_BYTES = 2**20
"""The most bytes that are read of a response."""


class AttachError(LocalError):
    """The application cannot be attached; the text says why, and how to correct it."""


class NoAnswerError(AttachError):
    """Nothing answers at the proxy's address."""


def check_health(proxy_url: str) -> None:
    """Check that a trafficmock proxy answers.

    :raises AttachError: if none does within two seconds.
    """
    if _health(proxy_url).get("ok") is not True:
        raise AttachError(f"what answers at {proxy_url} is no trafficmock proxy")


def is_strict(proxy_url: str) -> bool:
    """Return whether the service itself is strict; ``False`` if nothing answers.

    :raises AttachError: if the proxy answers with an error.
    """
    try:
        return _health(proxy_url).get("strict") is True
    except NoAnswerError:
        return False


def _health(proxy_url: str) -> dict[str, Any]:
    try:
        health = json.loads(_ask(proxy_url, "/health") or b"null")
    except ValueError:
        return {}
    return health if isinstance(health, dict) else {}


def certificate_authority(proxy_url: str) -> bytes | None:
    """Request the certificate that the proxy's clients have to trust.

    :returns: the certificate in PEM; ``None`` if the proxy is not a forward proxy.
    :raises NoAnswerError: if nothing answers within two seconds.
    :raises AttachError: if the proxy answers with an error.
    """
    answer = _ask(proxy_url, "/ca.pem")
    return answer if answer and answer.startswith(b"-----BEGIN CERTIFICATE-----") else None


def _ask(proxy_url: str, path: str) -> bytes | None:
    """Send GET to the proxy and return the body; ``None`` for 404."""
    if not proxy_url.startswith(("http://", "https://")):
        shown = without_credentials(proxy_url)
        raise AttachError(f"the proxy's URL must look like {DEFAULT_PROXY_URL}, not {shown!r}")
    # Without the proxies of the environment: this proxy is reached directly.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(proxy_url + path, timeout=ANSWER_SECONDS) as response:
            answer: bytes = response.read(MOST_BYTES)
            return answer
    except urllib.error.HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            return None
        raise AttachError(f"{proxy_url}{path} answers {error.code}: {_said(error)}") from error
    except (OSError, ValueError) as error:
        reason = why(getattr(error, "reason", error))
        raise NoAnswerError(
            f"no proxy answers at {proxy_url}: {reason}. Start it with `trafficmock serve`."
        ) from error


def _said(error: urllib.error.HTTPError) -> str:
    """Return the message in the proxy's error, else the reason phrase."""
    try:
        return str(json.loads(error.read(MOST_BYTES))["message"])
    except (OSError, ValueError, TypeError, LookupError):
        return error.reason
