"""Attaches a Python process whose ``PYTHONPATH`` has this directory.

``site`` imports this module before the application begins. The module then imports the next
``sitecustomize`` on the path, which it hides.
"""

import os
import sys

_DIRECTORY = os.path.dirname(os.path.abspath(__file__))
_URL_VARIABLES = ("TRAFFICMOCK_PROXY_URL", "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL")
"""The same as in ``preload_settings``, which is imported only if one of them is set."""


def _attach() -> None:
    """Attach this process; an error is written to stderr as one line."""
    try:
        from trafficmock_preload import attached_process

        attached_process.attach(_DIRECTORY)
    except Exception as error:
        sys.stderr.write(f"trafficmock: {type(error).__name__}: {error}\n")


def _import_next() -> None:
    """Import the next ``sitecustomize`` on the path, under that name."""
    own = sys.modules.pop("sitecustomize", None)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _DIRECTORY]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if own is not None:
            sys.modules.setdefault("sitecustomize", own)


if "trafficmock_preload" not in sys.modules:
    if any(map(os.environ.get, _URL_VARIABLES)):
        _attach()
    _import_next()
