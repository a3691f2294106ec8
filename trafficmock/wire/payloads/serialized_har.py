"""The HAR of a route, from which the coordinator answers its requests (feature ``reply``)."""

from typing import Literal

from msgspec import Raw, Struct


class SerializedHar(Struct, frozen=True, rename="camel"):
    """The entries of a HAR.

    :param name: the file, for messages.
    :param entries: the ``log.entries`` of the HAR, each as JSON, with ``null`` for those that no
        request of the route needs. Only ``request`` and ``response`` are read. A body is in
        ``text``; a ``content`` or ``postData`` whose file the worker could not read has the reason
        in ``unreadable``.
    :param not_found: what becomes of a request that the HAR does not have.
    """

    name: str
    entries: list[Raw]
    not_found: Literal["abort", "fallback"] = "abort"
