"""Where the proxy is, and how it lets us in, as the environment says."""

import os
from collections.abc import Mapping

DEFAULT_PROXY_URL = "http://127.0.0.1:4310"

_URL_VARIABLES = ("TRAFFICMOCK_PROXY_URL", "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL")
_TOKEN_VARIABLES = ("TRAFFICMOCK_TOKEN", "PLAYWRIGHT_BACKEND_MOCKS_TOKEN")


def proxy_url(environment: Mapping[str, str] = os.environ) -> str | None:
    """Read the proxy's URL; the npm packages' variable counts too."""
    return _first(environment, _URL_VARIABLES)


def proxy_token(environment: Mapping[str, str] = os.environ) -> str | None:
    """Read the token; the npm packages' variable counts too."""
    return _first(environment, _TOKEN_VARIABLES)


def attached(url: str, token: str | None, client_id: str | None) -> dict[str, str]:
    """Make the environment in which an application's agent finds the proxy."""
    values = dict.fromkeys(_URL_VARIABLES, url)
    if token is not None:
        values |= dict.fromkeys(_TOKEN_VARIABLES, token)
    if client_id is not None:
        values["TRAFFICMOCK_CLIENT_ID"] = client_id
    return values


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((environment[name] for name in names if environment.get(name)), None)
