"""The door of one test, a forward proxy for its browser; and the servers that it calls itself."""

from typing import Annotated, Final

from msgspec import Meta, Struct

MOST_ORIGINS: Final = 1000
"""The most origins of one door."""


class Door(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The request for a door: a forward proxy for one test, on a port of its own.

    A door writes the test's context on the requests to the application.

    :param origins: globs of the application's origins; if empty, hosts under test (loopback and
        ``--own-host``) are the application.
    :param hosts_under_test: whether hosts under test are the application besides the origins.
    """

    origins: Annotated[list[str], Meta(max_length=MOST_ORIGINS)] = []
    hosts_under_test: bool = False


class CalledServers(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The servers to which a client of a test itself sent the test's context, without its door.

    :param origins: of the servers, the earliest first.
    :param application: which of them are the application, as for a door.
    :param attached: whether the process of the test is attached, so that an application in it sends
        the context, too.
    """

    origins: Annotated[list[str], Meta(max_length=MOST_ORIGINS)]
    application: Door = Door()
    attached: bool = False
