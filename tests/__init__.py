"""The tests, for trial: ``python -m twisted.trial tests``.

Hypothesis runs without its deadline, because a busy machine is no failure, and says the
same of the same code each time. ``TRAFFICMOCK_DEEP=1`` makes it try many more examples, and
others at each run; ``TRAFFICMOCK_QUICK=1`` makes it try fewer.
"""

from hypothesis import settings

from tests.support.hypothesis_profiles import DEEP, QUICK, QUICK_SHARE

settings.register_profile("fast", deadline=None, max_examples=60, derandomize=True)
settings.register_profile("quick", settings.get_profile("fast"), max_examples=60 // QUICK_SHARE)
settings.register_profile("deep", deadline=None, max_examples=2000)
settings.load_profile("deep" if DEEP else "quick" if QUICK else "fast")
