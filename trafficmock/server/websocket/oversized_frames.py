"""Skips messages above the limit, so that the connection goes on after them."""

from attrs import define

from trafficmock.wire.message_heads import HEAD_BYTES

READ_PAST = 16
"""How many times the limit a message may have to be read past; beyond, the connection closes."""


@define
class OversizedMessage:
    """A message above the limit, which is skipped.

    :param size: bytes that it has at least.
    :param limit: bytes that it might have had.
    """

    size: int
    limit: int
    head: bytes = b""
    _told: bool = False

    def take(self, payload: bytes) -> bool:
        """Keep the beginning of the message.

        :returns: true once, when the head is whole.
        """
        if self._told:
            return False
        self.head += payload[: HEAD_BYTES - len(self.head)]
        self._told = len(self.head) >= min(HEAD_BYTES, self.size)
        return self._told
