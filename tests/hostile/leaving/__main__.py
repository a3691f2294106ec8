"""Prints what becomes of each way: ``python -m tests.hostile.leaving [PROGRAM [WAY]]``.

Without arguments the tables of the page are written.
"""

import sys
import tempfile
from pathlib import Path

from tests.hostile.leaving.leaving import PROGRAMS, ground, run_all, write_page

with tempfile.TemporaryDirectory() as folder, ground(Path(folder)) as made:
    if sys.argv[1:]:
        program, *named = sys.argv[1:]
        for way in named or PROGRAMS:
            for options in ((), ("--sealed",)):
                print(program, way, *options, made.leave(program, way, *options), flush=True)
    else:
        write_page(run_all(made))
