"""The parents of the errors of trafficmock: a class for faults of the caller, one for peers."""


class TrafficMockError(Exception):
    """The parent of the exceptions that trafficmock raises."""


class LocalError(TrafficMockError):
    """The caller made a mistake: an option, an argument or an order of calls is wrong."""


class PeerError(TrafficMockError):
    """The peer of a connection broke the protocol.

    :param message: the fault, and how to correct it.
    :param code: the error code of the reply to the peer.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code
