"""The options of the core."""

from typing import Literal

from attrs import field, frozen, validators

from trafficmock.matching.allow_list import AllowList
from trafficmock.matching.host_pattern import HostPattern
from trafficmock.wire.limits import HANDLER_BODY_BYTES, HISTORY_BODY_BYTES, MAX_MESSAGE_BYTES

_positive = validators.gt(0.0)


@frozen(kw_only=True)
class Settings:
    """The options of the core; times in seconds, sizes in bytes.

    :param version: the version of trafficmock, for ``hello:ok``.
    :param own_hosts: the hosts of the system under test besides those that
        :func:`.host_pattern.is_under_test` knows (``--own-host``). Strict mode does not refuse
        requests to them.
    :param strict: the allow list of a strict service, which refuses all other requests that no
        route matches; ``None`` leaves strict mode to tests and runs.
    :param strict_quiet: the time without a request after which a strict run is over whose worker
        ended; 0 for at once.
    :param token: the token that ``hello`` must have; ``None`` for no token.
    :param claim_timeout: the time for tests to answer a claim, and for the worker of an owner to
        give a sign of life.
    :param heartbeat: the time between two pings.
    :param idle_timeout: the longest silence of a connection.
    :param hello_timeout: the time for a new connection to send ``hello``; 0 for no limit.
    :param body_timeout: the time for a body that a test needs, from the announcement of
        its request; 0 for no limit.
    :param ownership: ``direct`` sends claims only to tests with undecidable routes,
        ``always-ask`` to all tests of workers without ``chain``, as the npm proxy does.
    :param local: whether agents may let requests pass without asking that no route can match.
    :param records_passed: whether the history keeps requests that pass through.
    :param handler_body_bytes: the largest body for a handler; 0 for no limit.
    :param history_body_bytes: the most bytes of a streamed body in the history; 0 for no limit.
    :param frame_bytes: the largest message of a client; 0 for no limit.
    :param reply_bytes: the memory of the replies of all routes together; 0 for no limit. Above it,
        routes are refused.
    :param recording_bytes: the memory of all recordings together; 0 for no limit. The recording
        that exceeds it is dropped.
    """

    version: str
    own_hosts: tuple[HostPattern, ...] = ()
    strict: AllowList | None = None
    strict_quiet: float = field(default=5.0, validator=validators.ge(0.0))
    token: str | None = field(default=None, repr=False)
    claim_timeout: float = field(default=5.0, validator=_positive)
    heartbeat: float = field(default=15.0, validator=_positive)
    idle_timeout: float = field(default=60.0, validator=_positive)
    hello_timeout: float = field(default=10.0, validator=validators.ge(0.0))
    body_timeout: float = field(default=20.0, validator=validators.ge(0.0))
    ownership: Literal["direct", "always-ask"] = "direct"
    local: bool = True
    records_passed: bool = True
    handler_body_bytes: int = field(default=HANDLER_BODY_BYTES, validator=validators.ge(0))
    history_body_bytes: int = field(default=HISTORY_BODY_BYTES, validator=validators.ge(0))
    frame_bytes: int = field(default=MAX_MESSAGE_BYTES, validator=validators.ge(0))
    reply_bytes: int = field(default=256 * 2**20, validator=validators.ge(0))
    recording_bytes: int = field(default=256 * 2**20, validator=validators.ge(0))

    @property
    def message_bytes(self) -> int:
        """The size limit of an agent's message, in bytes: the service reads it, and clients do."""
        return min(self.frame_bytes or MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES)

    @property
    def decides_locally(self) -> bool:
        """Whether agents may let requests pass without asking: not with ``always-ask``."""
        return self.local and self.ownership == "direct"
