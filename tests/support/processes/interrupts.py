"""Starts commands that a test interrupts as Ctrl-C does."""

import sys

_RESTORE_SIGINT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""

WITH_SIGINT = [sys.executable, "-c", _RESTORE_SIGINT]
"""Starts a command with the default disposition of SIGINT, which background jobs ignore."""
