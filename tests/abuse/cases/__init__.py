"""All cases, by what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.abuse.cases.answers import ANSWERS
from tests.abuse.cases.chunks import CHUNKS
from tests.abuse.cases.connects import CONNECTS
from tests.abuse.cases.fields import FIELDS
from tests.abuse.cases.framing import FRAMING
from tests.abuse.cases.hops import HOPS
from tests.abuse.cases.hosts import HOSTS
from tests.abuse.cases.lines import LINES
from tests.abuse.cases.pipelines import PIPELINES
from tests.abuse.cases.targets import TARGETS

if TYPE_CHECKING:
    from tests.abuse.case import Case

GROUPS: dict[str, tuple[Case, ...]] = {
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
