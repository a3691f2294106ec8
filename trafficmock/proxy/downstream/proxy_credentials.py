"""Credentials in the proxy's URL: the user is the client id, the password is the token."""

from __future__ import annotations

import base64
import binascii
import hmac

from trafficmock.http.bounded_cache import cached_by_text
from trafficmock.proxy.http1.heads import BadMessageError
from trafficmock.wire.client_id import client_id_problem

DEFAULT_ID = "proxy"
"""The client id of clients without a user."""

_LONGEST_ID = 256


class UnknownClientError(BadMessageError):
    """The token is missing or wrong."""

    def __init__(self, text: str) -> None:
        super().__init__(
            text,
            status=407,
            code="proxy_authentication_required",
            headers=[(b"proxy-authenticate", b'Basic realm="trafficmock", charset="UTF-8"')],
        )


def client_id(credentials: bytes | None, token: str | None) -> str:
    """Read ``Proxy-Authorization`` (RFC 9110 section 11.7.2).

    :param credentials: the value of the header; ``None`` if there is none.
    :param token: the password that is required; ``None`` accepts any.
    :returns: the client id; :data:`DEFAULT_ID` if there is no user.
    :raises UnknownClientError: if the token is missing or wrong.
    :raises BadMessageError: if the user is not a valid client id.
    """
    user, password = ("", "") if credentials is None else _basic(credentials)
    if token is not None:
        given, expected = password.encode(), token.encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(given, expected):
            what = "wrong" if password else "missing"
            raise UnknownClientError(
                f"The token is {what}. Use http://CLIENTID:TOKEN@host:port as the address of "
                "the proxy, with the --token that the service was started with."
            )
    problem = client_id_problem(user)
    if problem is not None:
        raise BadMessageError(f"The client id {problem}.", code="invalid_client_id")
    return user or DEFAULT_ID


@cached_by_text(maxsize=256)
def _basic(credentials: bytes) -> tuple[str, str]:
    """Read user and password of Basic credentials (RFC 7617); both are empty for other schemes."""
    scheme, _, coded = credentials.partition(b" ")
    if scheme.lower() != b"basic":
        return "", ""
    try:
        text = base64.b64decode(coded.strip(), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    user, _, password = text.partition(":")
    return user[:_LONGEST_ID], password
