"""The application under test: its origins, and the servers that a test itself has called."""

from typing import Annotated, Final

from msgspec import Meta, Struct

MOST_ORIGINS: Final = 1000
"""The most origins of one application."""


class ApplicationOrigins(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The servers that are the application, so that requests to them get the test's context.

    A test that names them by ``door`` gets a proxy for its browser, which writes the context.

    :param origins: globs of the application's origins; if empty, hosts under test (loopback and
        ``--own-host``) are the application.
    :param hosts_under_test: whether hosts under test are the application besides the origins.
    """

    origins: Annotated[list[str], Meta(max_length=MOST_ORIGINS)] = []
    hosts_under_test: bool = False


class CalledServers(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The servers to which a client of a test itself sent the test's context, not its browser.

    :param origins: of the servers, the earliest first.
    :param application: which of them are the application.
    :param attached: whether the process of the test is attached, so that an application in it sends
        the context, too.
    """

    origins: Annotated[list[str], Meta(max_length=MOST_ORIGINS)]
    application: ApplicationOrigins = ApplicationOrigins()
    attached: bool = False
