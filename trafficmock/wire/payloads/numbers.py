"""The ranges of numbers in messages: those that JavaScript represents exactly."""

from typing import Annotated

from msgspec import Meta

SAFE_INTEGER = 2**53 - 1

SafeInt = Annotated[int, Meta(ge=-SAFE_INTEGER, le=SAFE_INTEGER)]

Times = Annotated[int, Meta(ge=1, le=SAFE_INTEGER)]

Count = Annotated[int, Meta(ge=0, le=SAFE_INTEGER)]

LARGEST_FLOAT = 1.7976931348623157e308

Number = int | Annotated[float, Meta(ge=-LARGEST_FLOAT, le=LARGEST_FLOAT)]
