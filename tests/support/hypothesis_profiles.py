"""How hard Hypothesis tries: less with ``TRAFFICMOCK_QUICK=1``, more with ``..._DEEP=1``."""

import os

from hypothesis import HealthCheck, settings

DEEP = os.environ.get("TRAFFICMOCK_DEEP") == "1"
QUICK = os.environ.get("TRAFFICMOCK_QUICK") == "1" and not DEEP
QUICK_SHARE = 5
"""One in how many examples is tried in the quick run."""


def profile(examples: int, *, deep: int = 20, steps: int = 50) -> settings:
    """Say how many examples a property gets.

    :param examples: in the normal run.
    :param deep: how many times as many in the deep run.
    :param steps: of a stateful test, in one example.
    :returns: settings without a deadline: several test runs may share the machine.
    """
    usual = max(examples // QUICK_SHARE, 1) if QUICK else examples
    return settings(
        max_examples=examples * deep if DEEP else usual,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
