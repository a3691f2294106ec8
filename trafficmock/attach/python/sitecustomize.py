"""Attaches a Python process whose ``PYTHONPATH`` names this directory.

``site`` imports it before the application begins. The next ``sitecustomize`` on the path is
imported too, as it would be without this one.
"""

import os
import sys

_DIRECTORY = os.path.dirname(os.path.abspath(__file__))
_URL_VARIABLES = ("TRAFFICMOCK_PROXY_URL", "PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL")
"""Those of ``preload_settings``, which a process without a proxy does not import."""


def _attach() -> None:
    """Attach this process; whatever goes wrong is one line on stderr."""
    try:
        from trafficmock_preload import attached_process

        attached_process.attach(_DIRECTORY)
    except Exception as error:
        sys.stderr.write(f"trafficmock: {type(error).__name__}: {error}\n")


def _import_next() -> None:
    """Import the ``sitecustomize`` that this one stands before, and leave its name to it."""
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
