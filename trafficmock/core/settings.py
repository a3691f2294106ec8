"""Options of the core."""

from collections.abc import Callable
from typing import Literal

from attrs import field, frozen, validators

from trafficmock.matching.allow_list import AllowList
from trafficmock.wire.limits import MAX_MESSAGE_BYTES

_positive = validators.gt(0.0)


@frozen(kw_only=True)
class Settings:
    """Options of the core; times in seconds, sizes in bytes.

    :param version: trafficmock's, for ``hello:ok``.
    :param own_hosts: globs of hosts of the system under test, which agents add to their own.
    :param is_own_host: tells of a host in small letters, IPv6 without brackets, and a port whether
        it is part of the system under test; what goes there is not refused in strict mode.
    :param strict: requests that no route wants are refused, with or without an owner, unless this
        allows them; ``None`` leaves strict mode to tests and runs.
    :param token: what ``hello`` must carry, or ``None`` for anybody.
    :param claim_timeout: time for tests to say whether they want a request.
    :param heartbeat: how often connections are pinged.
    :param idle_timeout: how long a connection may be silent.
    :param hello_timeout: how long a new connection may take to say ``hello``; 0 for ever.
    :param body_timeout: how long a body may take that a test wants, from the announcement of
        its request; 0 for ever.
    :param ownership: ``direct`` asks only tests whose answer is not known,
        ``always-ask`` asks them all, as the npm proxy does.
    :param local: agents may let requests pass by themselves that no route can match.
    :param records_passed: the history keeps requests that nobody wanted.
    :param handler_body_bytes: the largest body that is handed to a test; 0 for no limit.
    :param history_body_bytes: how much is kept of a body that an agent streams; 0 for all.
    :param frame_bytes: the largest message that is taken; 0 for no limit.
    :param reply_bytes: what the fixed answers of all routes may take together; 0 for no limit.
        Beyond, the tests' processes answer.
    :param regex_memory_bytes: what the compiled URL patterns of all routes may take together;
        0 for no limit.
    :param regex_steps: what judging the URL of one request by patterns may cost, in
        instructions times bytes; 0 for no limit. Beyond, the tests are asked.
    """

    version: str
    own_hosts: tuple[str, ...] = ()
    is_own_host: Callable[[str, int], bool] = field(default=lambda _host, _port: False)
    strict: AllowList | None = None
    token: str | None = None
    claim_timeout: float = field(default=5.0, validator=_positive)
    heartbeat: float = field(default=15.0, validator=_positive)
    idle_timeout: float = field(default=60.0, validator=_positive)
    hello_timeout: float = field(default=10.0, validator=validators.ge(0.0))
    body_timeout: float = field(default=20.0, validator=validators.ge(0.0))
    ownership: Literal["direct", "always-ask"] = "direct"
    local: bool = True
    records_passed: bool = True
    handler_body_bytes: int = field(default=64 * 2**20, validator=validators.ge(0))
    history_body_bytes: int = field(default=8 * 2**20, validator=validators.ge(0))
    frame_bytes: int = field(default=MAX_MESSAGE_BYTES, validator=validators.ge(0))
    reply_bytes: int = field(default=256 * 2**20, validator=validators.ge(0))
    regex_memory_bytes: int = field(default=64 * 2**20, validator=validators.ge(0))
    regex_steps: int = field(default=10_000_000, validator=validators.ge(0))

    @property
    def decides_locally(self) -> bool:
        """Whether agents may let requests pass: not where all tests are always asked."""
        return self.local and self.ownership == "direct"
