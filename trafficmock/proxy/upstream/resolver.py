"""Resolves host names that IDNA forbids and DNS allows: ``my_service``, ``r1---sn.x``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from twisted.internet.interfaces import (
    IAddress,
    IHostnameResolver,
    IHostResolution,
    IReactorPluggableNameResolver,
    IResolutionReceiver,
)
from zope.interface import implementer

_LONGEST_NAME = 253

_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}")
"""Labels that the system's resolver accepts (RFC 2181 section 11 allows any)."""

_UNUSUAL_LABEL = re.compile(r".*_|-|.*-\Z|(?!xn)..--", re.IGNORECASE)
"""ASCII labels that IDNA forbids (RFC 5891 section 4.2.3.1)."""


def is_unusual(host: str) -> bool:
    """Return whether the system can resolve a name that Twisted refuses because of IDNA.

    Names of containers often have an underscore: ``payment_service``.
    """
    labels = host.removesuffix(".").split(".")
    return (
        len(host) <= _LONGEST_NAME
        and all(_LABEL.fullmatch(label) for label in labels)
        and any(_UNUSUAL_LABEL.match(label) for label in labels)
    )


@implementer(IReactorPluggableNameResolver, IHostnameResolver)
class FixedNameReactor:
    """Wraps the reactor; its resolver looks up one fixed name, whichever is asked for.

    :param reactor: the reactor, which does all the rest.
    :param name: the name to look up.
    """

    def __init__(self, reactor: Any, name: str) -> None:
        self._reactor = reactor
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    @property
    def nameResolver(self) -> IHostnameResolver:  # noqa: N802 - Twisted's name
        return self

    def installNameResolver(self, resolver: IHostnameResolver) -> IHostnameResolver:  # noqa: N802 - Twisted's name
        """Install a name resolver in the reactor."""
        before: IHostnameResolver = self._reactor.installNameResolver(resolver)
        return before

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: IResolutionReceiver,  # noqa: N803 - Twisted's name
        hostName: str,  # noqa: ARG002, N803 - Twisted's name
        portNumber: int = 0,  # noqa: N803 - Twisted's name
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803 - Twisted's name
        transportSemantics: str = "TCP",  # noqa: N803 - Twisted's name
    ) -> IHostResolution:
        resolver: IHostnameResolver = self._reactor.nameResolver
        found: IHostResolution = resolver.resolveHostName(
            resolutionReceiver, self._name, portNumber, addressTypes, transportSemantics
        )
        return found
