"""The preload of Python applications, whose modules are imported as an application does."""

import sys
from pathlib import Path

# Not by an import: these tests also run on a Python that trafficmock itself does not support.
DIRECTORY = Path(__file__).parents[3] / "trafficmock" / "attach" / "python"

if str(DIRECTORY) not in sys.path:
    # Behind everything else: its sitecustomize is for other processes.
    sys.path.append(str(DIRECTORY))
