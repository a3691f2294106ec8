"""Makes the pictures of the command line: real commands on a real terminal, as SVG.

Run it from the checkout: ``python -m docs.terminal_pictures``. The traffic is made up, the
output is what the commands write on a pseudo-terminal.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
from html import escape
from pathlib import Path

from tests.command.traffic import Traffic, request, response
from tests.support.processes.proxy_process import REPOSITORY, running_proxy

FOLDER = Path(__file__).parent / "pictures"
COLUMNS = 112
COMMANDS = {
    "history": ["history"],
    "show": ["show", "7341eb17"],
}
NO_BREAK = "\u00a0"
"""A blank that SVG does not swallow."""

_SGR = re.compile(r"\x1b\[([0-9]+)m")
_LINE, _CHARACTER, _EDGE = 19, 8.4, 14  # pixels
_STYLES = {
    "1": 'font-weight="bold"',
    "2": 'fill="#8b949e"',
    "31": 'fill="#ff7b72"',
    "32": 'fill="#7ee787"',
    "33": 'fill="#f2cc60"',
    "35": 'fill="#d2a8ff"',
    "36": 'fill="#79c0ff"',
}


def play(traffic: Traffic) -> None:
    """Make some traffic of a shop."""
    charge = request("https://payments.example/charges", "POST", '{"amount":4200,"currency":"EUR"}')
    paid = response(200, '{"receipt":"R1"}', content_type="application/json")
    stock = "https://stock.example/v1/items/teapot?warehouse=hamburg"
    traffic.passed("1c0e55aa90d2f713", stock, response(200, '{"left":3}'))
    traffic.owned("7341eb172fa75c08", charge, action="fulfill", response=paid)
    traffic.owned("b90d2f7131c0e55a", charge, action="fulfill", response=response(402))
    traffic.owned("2fa75c087341eb17", charge, action="abort", errorCode="connectionrefused")
    traffic.start("e55aa90d2f7131c0", request("https://api.example/both"))
    traffic.decision("e55aa90d2f7131c0")
    traffic.settled()


def screen(url: str, words: list[str]) -> str:
    """Run a command on a pseudo-terminal; give what it wrote."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, COLUMNS))
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    running = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "trafficmock", *words],
        stdout=theirs,
        cwd=REPOSITORY,
        env={**environment, "TRAFFICMOCK_PROXY_URL": url, "TERM": "xterm", "TZ": "UTC"},
    )
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
    except OSError:
        running.wait()  # so ends a terminal on Linux
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


def svg(command: str, text: str) -> str:
    """Draw a terminal with a command and what it wrote."""
    lines = [f"$ \x1b[1m{command}\x1b[0m", *text.rstrip("\n").split("\n")]
    height = _LINE * len(lines) + 2 * _EDGE
    wide = round(COLUMNS * _CHARACTER + 2 * _EDGE)
    drawn = "\n".join(
        f'<text x="{_EDGE}" y="{_EDGE + _LINE * at + 14}">{spans(line)}</text>'
        for at, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {height}" role="img">\n'
        f"<title>{escape(command)}</title>\n"
        f'<rect width="{wide}" height="{height}" rx="8" fill="#161b22"/>\n'
        '<g font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="14" fill="#e6edf3">\n{drawn}\n</g>\n</svg>\n'
    )


def spans(line: str) -> str:
    """Write a line as spans, each at its column, whatever the font."""
    drawn, style, column = "", "", 0
    for at, part in enumerate(_SGR.split(line)):
        if at % 2:
            style = _STYLES.get(part, "")
        elif part:
            length = len(part) * _CHARACTER
            drawn += (
                f'<tspan x="{_EDGE + column * _CHARACTER:.1f}" textLength="{length:.1f}" '
                f"{style}>{escape(part.replace(' ', NO_BREAK))}</tspan>"
            )
            column += len(part)
    return drawn


def main() -> None:
    """Make all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with running_proxy() as proxy:
        traffic = Traffic.at(proxy.url)
        play(traffic)
        for name, words in COMMANDS.items():
            text = screen(proxy.url, words)
            (FOLDER / f"terminal-{name}.svg").write_text(
                svg(f"trafficmock {' '.join(words)}", text)
            )
        traffic.close()


if __name__ == "__main__":
    main()
