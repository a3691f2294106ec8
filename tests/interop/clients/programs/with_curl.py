"""curl, one process for each order; this program only translates."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.interop.clients.programs import base
from tests.interop.clients.programs.base import NotAvailableError, Order, answer


def act(order: Order) -> dict[str, Any]:
    if order.mode == "ws":
        raise NotAvailableError("it has no WebSocket client")
    if order.mode == "sse":
        return _events(order)
    with tempfile.TemporaryDirectory() as folder:
        head, body = Path(folder) / "head", Path(folder) / "body"
        argv = ["curl", "-sS", "--max-time", str(base.SECONDS), "-D", str(head), "-o", str(body)]
        argv += ["--suppress-connect-headers", "-X", order.method]
        if order.method == "HEAD":
            argv.append("--head")
        if order.follow:
            argv.append("--location")
        argv += [part for name, value in order.headers for part in ("-H", f"{name}: {value}")]
        if order.streamed:
            argv += ["-T", "-"]
        elif order.text is not None:
            argv += ["--data-binary", "@-"]
        done = subprocess.run(
            [*argv, order.url],
            input=b"".join(order.pieces()) if order.streamed else order.text or b"",
            capture_output=True,
            check=False,
        )
        if done.returncode:
            code = f"curl {done.returncode}"
            return {"error": f"{code}: {done.stderr.decode().strip()}", "causes": [code]}
        blocks = head.read_text("latin-1").replace("\r", "").strip().split("\n\n")
        status, *lines = blocks[-1].split("\n")
        pairs = [(n, v.strip()) for n, _, v in (line.partition(":") for line in lines)]
        content = body.read_bytes() if body.exists() and order.method != "HEAD" else b""
        return answer(int(status.split()[1]), pairs, content)


def _events(order: Order) -> dict[str, Any]:
    with subprocess.Popen(
        ["curl", "-sSN", "--max-time", str(base.SECONDS), order.url], stdout=subprocess.PIPE
    ) as curl:
        assert curl.stdout is not None
        return base.events(
            curl.stdout,
            lambda: subprocess.run(
                ["curl", "-sS", order.following_url], check=True, capture_output=True
            ),
        )


if __name__ == "__main__":
    base.serve(act)
