"""What the history keeps changes what can be seen, never what happens."""

from tests.interop.npm import specs
from tests.interop.npm.specs import Group
from tests.support.hypothesis_profiles import DEEP


class HandledTests(specs.SpecTestCase):
    """Only what a test acted on."""

    group = Group("capture-handled", proxy_options=("--history-capture", "handled"))
    spec = "handled.spec.mjs"


class NoneTests(specs.SpecTestCase):
    """Nothing."""

    if not DEEP:
        skip = "only with TRAFFICMOCK_DEEP=1"

    group = Group("capture-none", proxy_options=("--history-capture", "none"))
    spec = "none.spec.mjs"
