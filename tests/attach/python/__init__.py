"""The preload of Python applications, whose modules are imported as an application does."""

import sys

from trafficmock.attach.python_preload import DIRECTORY

if str(DIRECTORY) not in sys.path:
    # Behind everything else: its sitecustomize is for other processes.
    sys.path.append(str(DIRECTORY))
