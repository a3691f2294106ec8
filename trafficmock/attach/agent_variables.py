"""The environment variables with the proxy's URL, token and client id for agents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trafficmock.attach.proxy_variables import ProxyAddress

DEFAULT_PROXY_URL = "http://127.0.0.1:4310"

URL_VARIABLES = ("TRAFFICMOCK_PROXY_URL", "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL")
TOKEN_VARIABLES = ("TRAFFICMOCK_TOKEN", "PLAYWRIGHT_BACKEND_MOCKS_TOKEN")
"""Trafficmock's variable, then the npm packages', which is read if the first is absent or empty."""
CLIENT_ID_VARIABLE = "TRAFFICMOCK_CLIENT_ID"

IGNORE_VARIABLE = "TRAFFICMOCK_IGNORE_HOSTS"
"""The hosts that agents leave alone."""


def proxy_url(environment: Mapping[str, str] | None = None) -> str | None:
    """Return the proxy's URL in an environment; ``None`` if there is none.

    :param environment: by default that of this process.
    """
    environment = os.environ if environment is None else environment
    found = proxy_url_variable(environment)
    return environment[found] if found else None


def proxy_url_variable(environment: Mapping[str, str]) -> str | None:
    """Return the name of the variable with the proxy's URL; ``None`` if there is none."""
    return _first(environment, URL_VARIABLES)


def proxy_token(environment: Mapping[str, str] | None = None) -> str | None:
    """Return the proxy's token in an environment; ``None`` if there is none.

    :param environment: by default that of this process.
    """
    environment = os.environ if environment is None else environment
    found = _first(environment, TOKEN_VARIABLES)
    return environment[found] if found else None


def agent_variables(address: ProxyAddress, *, npm_agent: bool) -> dict[str, str]:
    """Make the variables for agents.

    :param npm_agent: whether to set the npm agent's variables, too. In an application with both
        agents, the npm agent would announce each request a second time.
    """
    count = None if npm_agent else 1
    variables = dict.fromkeys(URL_VARIABLES[:count], address.base_url)
    if address.token is not None:
        variables |= dict.fromkeys(TOKEN_VARIABLES[:count], address.token)
    if address.client_id is not None:
        variables[CLIENT_ID_VARIABLE] = address.client_id
    return variables


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if environment.get(name)), None)
