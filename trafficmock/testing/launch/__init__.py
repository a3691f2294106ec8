"""Starts the application of the tests, and a proxy for tests that do not name one.

``application`` starts an application attached, ``pytest_applications`` those of a pytest run;
``shared_applications`` shares one between pytest workers, by the program ``leased_application``,
which keeps its output in ``output_files``.
``group_watchdog`` ends an application when the process of its tests was killed.
``proxy_process`` starts a proxy, or finds the one that the environment names; ``shared_proxy``
shares one between pytest workers; ``leased_proxy`` is the program that both start: it ends when no
process holds its ``lease``. ``processes`` ends them, by signals or as Windows does.
"""

from trafficmock.testing.launch.application import Application, attached_application
from trafficmock.testing.launch.proxy_process import Proxy, process_proxy, start_proxy

__all__ = ["Application", "Proxy", "attached_application", "process_proxy", "start_proxy"]
