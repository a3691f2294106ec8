"""How hard Hypothesis tries: a fast profile, and a deep one for ``TRAFFICMOCK_DEEP=1``."""

import os

from hypothesis import HealthCheck, settings

DEEP = os.environ.get("TRAFFICMOCK_DEEP") == "1"


def profile(examples: int, *, deep: int = 20, steps: int = 50) -> settings:
    """Say how many examples a property gets.

    :param examples: in the normal run.
    :param deep: how many times as many in the deep run.
    :param steps: of a stateful test, in one example.
    :returns: settings without a deadline: several test runs may share the machine.
    """
    return settings(
        max_examples=examples * deep if DEEP else examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
