"""A proxy for tests that name none: started once per run, ended with the tests.

``proxy_process`` starts it, ``shared_proxy`` shares it between pytest workers, ``lease`` ends it
when its last user is gone; ``proxy_environment`` and ``proxy_address`` say where a given one is.
"""

from trafficmock.testing.launch.proxy_process import Proxy, process_proxy, start_proxy

__all__ = ["Proxy", "process_proxy", "start_proxy"]
