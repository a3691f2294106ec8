"""Who decides: ambiguity between tests, claims that run out of time, tokens."""

from tests.interop.npm import specs
from tests.interop.npm.specs import Group

TOKEN = Group("token", token="the-token-of-this-run")


class ClaimantTests(specs.SpecTestCase):
    """Two workers at once, after the same traffic and after their own."""

    group = Group("ambiguity", workers=2)
    spec = "claimants.spec.mjs"


class TimeoutTests(specs.SpecTestCase):
    """A worker that does not answer holds nobody for ever."""

    group = Group("claims", proxy_options=("--claim-timeout-ms", "600"))
    spec = "timeouts.spec.mjs"


class RightTokenTests(specs.SpecTestCase):
    """Who has the token comes in, and nobody else."""

    group = TOKEN
    spec = "right.spec.mjs"


class WrongTokenTests(specs.SpecTestCase):
    """A wrong token is told apart."""

    group = TOKEN
    spec = "wrong.spec.mjs"


class MissingTokenTests(specs.SpecTestCase):
    """No token is told apart."""

    group = TOKEN
    spec = "missing.spec.mjs"
