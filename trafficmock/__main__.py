"""``python -m trafficmock`` is the command ``trafficmock``."""

from trafficmock.cli import main

main()
