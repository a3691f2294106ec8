"""The error tree: who is at fault decides the class."""


class TrafficMockError(Exception):
    """The parent of every error that trafficmock raises on purpose."""


class LocalError(TrafficMockError):
    """The caller made a mistake: an option, an argument or an order of calls is wrong."""


class PeerError(TrafficMockError):
    """The other side of a connection misbehaved.

    :param message: what was wrong and what to do about it.
    :param code: the error code of the reply that the peer should get.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code
