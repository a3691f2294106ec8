"""A request in messages, and the overrides of a handler."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from trafficmock.wire.payloads import body
from trafficmock.wire.payloads.quiet_repr import quiet_repr

NonEmpty = Annotated[str, Meta(min_length=1)]

BodySize = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""The decoded bytes of a whole body of which only a part is sent (feature ``stream``)."""

HeaderPairs = list[tuple[str, str]]
"""Header lines in order, as name and value, decoded as latin-1 (feature ``headers-list``)."""


class SerializedRequest(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One outbound HTTP request of an application (protocol 3 ``SerializedRequest``).

    Where ``truncated`` is true, ``body_base64`` is only the beginning of the body, or
    ``null``; ``body_size`` is the size of the whole body in bytes (feature ``stream``).
    """

    url: NonEmpty
    method: NonEmpty
    headers: dict[str, str]
    body_base64: body.MessageBody
    headers_list: HeaderPairs | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET
    body_size: BodySize | UnsetType = UNSET

    __repr__ = quiet_repr


class SerializedOverrides(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The changes of ``continue`` or ``fetch`` to a request; absent fields keep the original.

    ``headers`` replaces all headers. A ``body_base64`` of ``null`` sends no body.

    :param content_type: the content type of the new body in a ``fetch`` whose headers have none.
        Only workers with the feature ``chain`` send it; agents never get it.
    """

    url: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    headers: dict[str, str] | UnsetType = UNSET
    body_base64: body.MessageBody = body.ABSENT
    headers_list: HeaderPairs | UnsetType = UNSET
    content_type: str | UnsetType = UNSET

    __repr__ = quiet_repr
