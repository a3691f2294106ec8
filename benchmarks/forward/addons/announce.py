"""Makes mitmproxy write a ready file, named by the option ``ready_file``."""

import json
import os
from pathlib import Path

from mitmproxy import ctx
from mitmproxy.addonmanager import Loader


def load(loader: Loader) -> None:
    """Add the option."""
    loader.add_option("ready_file", str, "", "where to say that the proxy listens")


def running() -> None:
    """Write the ready file atomically when the proxy listens."""
    path = Path(ctx.options.ready_file)
    url = f"http://{ctx.options.listen_host}:{ctx.options.listen_port}"
    written = path.with_suffix(".new")
    written.write_text(json.dumps({"url": url, "pid": os.getpid()}))
    written.replace(path)
