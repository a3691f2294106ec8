"""Skips messages above the limit, so that the connection can be used after them."""

from attrs import define, field

from trafficmock.wire.invalid_message import HEAD_BYTES

READ_PAST = 16
"""Messages up to this many times the limit are skipped; larger ones close the connection."""


@define
class OversizedMessage:
    """A message above the limit, of which only the head is kept.

    :param size: its bytes, as far as they are known from its first frames.
    :param limit: bytes of the largest message.
    """

    size: int
    limit: int
    head: bytes = field(default=b"", repr=False)
    _is_complete: bool = False

    def take(self, payload: bytes) -> bool:
        """Add a piece of the message; bytes behind the head are dropped.

        :returns: true once, when the head is complete.
        """
        if self._is_complete:
            return False
        self.head += payload[: HEAD_BYTES - len(self.head)]
        self._is_complete = len(self.head) >= min(HEAD_BYTES, self.size)
        return self._is_complete
