"""Commands that must succeed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


class CommandError(Exception):
    """A command failed; the text has its output."""


def run(
    *argv: str | Path, cwd: Path, env: Mapping[str, str] | None = None, seconds: float = 600
) -> str:
    """Run a command and wait for its end.

    :param env: what stands in its environment besides that of this process.
    :param seconds: the time it may take.
    :returns: what it wrote on both streams.
    :raises CommandError: when it ends with a status other than 0, or takes longer.
    """
    words = [str(word) for word in argv]
    sys.stdout.write(f"$ {' '.join(words)}\n")
    sys.stdout.flush()
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(f"{' '.join(words)} did not end within {seconds:.0f} s") from error
    if done.returncode:
        raise CommandError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout
