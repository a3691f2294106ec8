"""A proxy for tests that name none: started once per run, ended with the tests.

``proxy_process`` starts it, or finds the one that the environment names; ``shared_proxy`` shares
it between pytest workers; ``leased_proxy`` is the process that they start, which a ``lease`` ends
when its last user is gone.
"""

from trafficmock.testing.launch.proxy_process import Proxy, process_proxy, start_proxy

__all__ = ["Proxy", "process_proxy", "start_proxy"]
