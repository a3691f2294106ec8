"""What ``trafficmock run`` and ``trafficmock env`` share: their options, and the agent's module."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from twisted.python import usage

from trafficmock.attach.environment import Attachment
from trafficmock.attach.node import find_preload
from trafficmock.attach.rest_probe import AttachError

if TYPE_CHECKING:
    from collections.abc import Mapping


class AttachOptions(usage.Options):
    """The options of ``trafficmock run`` and ``trafficmock env``."""

    longdesc = (
        "An application joins through its environment: a Node process by the agent, every other "
        "one by the proxy variables, with certificates to trust. What the environment says of "
        "these is kept where it can be."
    )
    optParameters: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["proxy-url", None, None, "Base URL of the proxy; or set TRAFFICMOCK_PROXY_URL."],
        ["token", None, None, "The proxy's token; or set TRAFFICMOCK_TOKEN."],
        ["client-id", None, None, "How tests and the history name the application."],
        ["no-proxy", None, None, "Hosts to reach directly, instead of those in NO_PROXY."],
        ["ca-dir", None, None, "Where certificates are kept; by default user data."],
    ]
    optFlags: ClassVar[list[Any]] = [  # noqa: N815 - Twisted's name
        ["no-agent", None, "Send Node applications through the proxy too (Node 24 and later)."]
    ]


def attachment(
    options: Mapping[str, Any], env: Mapping[str, str], preload: Path | None
) -> Attachment:
    """Put together what the options and the environment say.

    :param preload: the module that Node loads as the agent, if it is used.
    :raises AttachError: when the URL or the client id is none that can be used.
    """
    return Attachment.of(
        env,
        url=options["proxy-url"],
        token=options["token"],
        client_id=options["client-id"],
        ca_directory=options["ca-dir"],
        preload=preload,
        no_proxy=options["no-proxy"],
    )


def preload_of(options: Mapping[str, Any], *, needed: bool) -> Path | None:
    """Find the agent; without it, where it is not needed, standard error says so.

    :raises AttachError: when it is needed and not to be found.
    """
    if options["no-agent"]:
        return None
    try:
        return find_preload(Path.cwd().resolve())
    except AttachError as error:
        if needed:
            raise
        sys.stderr.write(f"trafficmock: for Node applications {error}\n")
        return None
