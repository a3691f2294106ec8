"""The variables that tell an agent where the proxy is: their names, read and written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trafficmock.attach.proxy_variables import ProxyAddress

DEFAULT_PROXY_URL = "http://127.0.0.1:4310"

URL_VARIABLES = ("TRAFFICMOCK_PROXY_URL", "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL")
TOKEN_VARIABLES = ("TRAFFICMOCK_TOKEN", "PLAYWRIGHT_BACKEND_MOCKS_TOKEN")
"""Trafficmock's, then that of the npm packages, which counts where the first is absent or empty."""
CLIENT_ID_VARIABLE = "TRAFFICMOCK_CLIENT_ID"


def proxy_url(environment: Mapping[str, str] | None = None) -> str | None:
    """Read the proxy's URL.

    :param environment: by default that of this process.
    """
    environment = os.environ if environment is None else environment
    found = proxy_url_variable(environment)
    return environment[found] if found else None


def proxy_url_variable(environment: Mapping[str, str]) -> str | None:
    """Name the variable that says where the proxy is; ``None`` when none does."""
    return _first(environment, URL_VARIABLES)


def proxy_token(environment: Mapping[str, str] | None = None) -> str | None:
    """Read the proxy's token.

    :param environment: by default that of this process.
    """
    environment = os.environ if environment is None else environment
    found = _first(environment, TOKEN_VARIABLES)
    return environment[found] if found else None


def agent_variables(address: ProxyAddress, *, npm_agent: bool) -> dict[str, str]:
    """List the variables in which agents find the proxy.

    :param npm_agent: whether the npm agent, if the application has it, shall find the proxy
        too. Beside trafficmock's agent it would announce each request a second time.
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
