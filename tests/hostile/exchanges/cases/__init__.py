"""All cases, by what is wrong with them.

Through the proxy: ``lines`` of requests, ``targets``, ``hosts``, ``fields``, ``framing``,
``chunks``, ``hops``, ``connects``, ``pipelines`` and the ``answers`` of servers. To the service:
``heads``, ``handshakes``, ``frames`` and ``junk``.
"""

from tests.hostile.exchanges.case import Case
from tests.hostile.exchanges.cases.answers import ANSWERS
from tests.hostile.exchanges.cases.chunks import CHUNKS
from tests.hostile.exchanges.cases.connects import CONNECTS
from tests.hostile.exchanges.cases.fields import FIELDS
from tests.hostile.exchanges.cases.frames import FRAMES
from tests.hostile.exchanges.cases.framing import FRAMING
from tests.hostile.exchanges.cases.handshakes import HANDSHAKES
from tests.hostile.exchanges.cases.heads import HEADS
from tests.hostile.exchanges.cases.hops import HOPS
from tests.hostile.exchanges.cases.hosts import HOSTS
from tests.hostile.exchanges.cases.junk import JUNK
from tests.hostile.exchanges.cases.lines import LINES
from tests.hostile.exchanges.cases.pipelines import PIPELINES
from tests.hostile.exchanges.cases.targets import TARGETS

THROUGH_PROXY: dict[str, tuple[Case, ...]] = {
    "request lines": LINES,
    "targets": TARGETS,
    "Host": HOSTS,
    "fields": FIELDS,
    "framing": FRAMING,
    "chunks": CHUNKS,
    "hop by hop": HOPS,
    "CONNECT": CONNECTS,
    "pipelines": PIPELINES,
    "upstream's answers": ANSWERS,
}
"""Of clients of the forward proxy, and of the servers behind it."""

TO_SERVICE: dict[str, tuple[Case, ...]] = {
    "heads to the service": HEADS,
    "handshakes": HANDSHAKES,
    "frames": FRAMES,
    "no messages": JUNK,
}
"""Of clients of the service itself, over HTTP and ``/ws``."""

GROUPS = THROUGH_PROXY | TO_SERVICE
