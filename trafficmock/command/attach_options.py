"""The options that ``trafficmock run`` and ``trafficmock env`` share."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from trafficmock.attach.environment import Attachment
from trafficmock.attach.node import find_preload

HOW_IT_JOINS = (
    "An application joins through its environment: a Node process by the agent, a Python "
    "process by the preload, every other one by the proxy variables, with certificates to "
    "trust. Values that these variables have already are kept where possible."
)


def add_attach_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of both commands, without ``--proxy-url``."""
    add = parser.add_argument
    add("--token", metavar="TOKEN", help="the proxy's token; or set TRAFFICMOCK_TOKEN")
    add("--client-id", metavar="ID", help="how tests and the history name the application")
    add("--no-proxy", metavar="HOSTS", help="hosts to reach directly, instead of those in NO_PROXY")
    add("--ca-dir", metavar="DIR", help="where certificates are kept (default: user data)")
    add(
        "--no-agent",
        action="store_true",
        help="send Node applications through the proxy too (Node 24 and later)",
    )


def attachment(options: argparse.Namespace, preload: Path | None) -> Attachment:
    """Make the attachment from the options and the environment.

    :param preload: the Node agent's ``register.js``; ``None`` for no agent.
    :raises AttachError: if the URL or the client id cannot be used.
    """
    return Attachment.of(
        os.environ,
        url=options.proxy_url,
        token=options.token,
        client_id=options.client_id,
        ca_directory=options.ca_dir,
        preload=preload,
        no_proxy=options.no_proxy,
    )


def preload_of(options: argparse.Namespace) -> Path | None:
    """Find the Node agent's ``register.js``; ``None`` with ``--no-agent``.

    :raises AttachError: if there is no agent.
    """
    return None if options.no_agent else find_preload(Path.cwd().resolve())
