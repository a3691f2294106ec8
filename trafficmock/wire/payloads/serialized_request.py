"""The request as it travels, and what a handler may override in it."""

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from trafficmock.wire.payloads import body

NonEmpty = Annotated[str, Meta(min_length=1)]

BodySize = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""Bytes of a body that was not passed on whole (feature ``stream``)."""

HeaderPairs = list[tuple[str, str]]
"""Ordered header lines; bytes travel as latin-1 (feature ``headers-list``)."""


class SerializedRequest(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One outbound HTTP request of an application (protocol 3 ``SerializedRequest``).

    Where ``truncated`` is true, ``body_base64`` is not all of the body but its beginning, or
    nothing; ``body_size`` is how many bytes it had (feature ``stream``).
    """

    url: NonEmpty
    method: NonEmpty
    headers: dict[str, str]
    body_base64: Raw
    headers_list: HeaderPairs | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET
    body_size: BodySize | UnsetType = UNSET


class SerializedOverrides(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What ``continue`` or ``fetch`` changes; an absent field keeps the original.

    ``headers`` replaces the whole set. A ``body_base64`` of ``null`` sends no body.
    """

    url: str | UnsetType = UNSET
    method: str | UnsetType = UNSET
    headers: dict[str, str] | UnsetType = UNSET
    body_base64: Raw = body.ABSENT
    headers_list: HeaderPairs | UnsetType = UNSET
