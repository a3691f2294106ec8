"""The HAR of a route, which answers its requests or records them."""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from trafficmock.wire.payloads.quiet_repr import quiet_repr

MOST_PACE: Final = 1000
"""The largest factor for the pauses of a recorded answer."""

MOST_ENTRIES: Final = 200_000
"""The most entries of a HAR: each is looked at when the route is registered."""

MOST_RULES: Final = 100
"""The most parts that are compared, and the most fields that are ignored."""

OF_REQUESTS = ("method", "url", "headers", "postData")
OF_RESPONSES = (
    "status",
    "statusText",
    "headers",
    "content",
    "_failureText",
    "_error",
    "_pieces",
    "_trailers",
)
"""The parts of the requests and responses of a HAR that the coordinator reads."""


class SerializedHar(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The entries of a HAR.

    :param name: the file, for messages.
    :param entries: the ``log.entries`` of the HAR, each as JSON, with ``null`` for those that no
        request of the route needs. Only ``request`` and ``response`` are read. A body is in
        ``text``; a ``content`` or ``postData`` whose file the worker could not read has the reason
        in ``unreadable``.
    :param not_found: what becomes of a request that the HAR does not have.
    :param pace: the factor for the pauses between the pieces of recorded answers; without it they
        are sent at once.
    :param match_on: the parts of a request that have to be equal, such as ``method`` or ``json``;
        by default Playwright's.
    :param ignore: fields that need not be equal, such as ``json:meta.id``.
    :param in_order: each entry answers one request, in their order; else any number of them.
    :param follow_redirects: whether a redirect is answered by what it leads to within the HAR.
    """

    name: str
    entries: Annotated[list[Raw], Meta(max_length=MOST_ENTRIES)]
    not_found: Literal["abort", "fallback"] = "abort"
    pace: Annotated[float, Meta(ge=0, le=MOST_PACE)] | UnsetType = UNSET
    match_on: Annotated[list[str], Meta(max_length=MOST_RULES)] | UnsetType = UNSET
    ignore: Annotated[list[str], Meta(max_length=MOST_RULES)] = []
    in_order: bool = False
    follow_redirects: bool = False

    __repr__ = quiet_repr


Content = Literal["attach", "embed"]
UpdateMode = Literal["minimal", "full"]


class SerializedRecording(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """How the coordinator records the requests of a route, and the answers of the real server.

    :param content: ``attach`` puts bodies into files of their own, ``embed`` into the HAR.
    :param mode: ``minimal`` leaves times and sizes out.
    :param redact: what is secret besides what the coordinator knows, or ``off``.
    :param follow_redirects: whether the answer is what a redirect leads to.
    """

    content: Content = "attach"
    mode: UpdateMode = "minimal"
    redact: Annotated[list[str], Meta(max_length=MOST_RULES)] = []
    follow_redirects: bool = False
