"""A HAR downloaded from the history replays."""

from tests.interop.npm import specs
from tests.interop.npm.specs import Group

HAR = Group("har", browser=True)


class ReplayTests(specs.SpecTestCase):
    """Through the npm fixture's ``routeFromHAR``."""

    group = HAR
    spec = "replay.spec.mjs"


class BrowserTests(specs.SpecTestCase):
    """Through Playwright's own ``routeFromHAR``, in Chromium."""

    group = HAR
    spec = "browser.spec.mjs"
