"""Both proxies as targets, with the certificate authority that clients must trust."""

from __future__ import annotations

import http.client
import subprocess
import sys
from pathlib import Path

from attrs import frozen

from benchmarks import targets
from benchmarks.errors import BenchmarkError
from benchmarks.forward.loads import Way
from benchmarks.targets import Running, Target

_ADDONS = Path(__file__).parent / "addons"
MITMPROXY = "mitmproxy>=11"


_SECONDS = 120.0
"""The time that a proxy under callgrind may take to make its authority, on a busy machine."""


@frozen
class MeasuredProxy:
    """
    A proxy, and the authority of its certificates.

    :param target: starts it.
    :param authority: the PEM file that it writes when it starts; ``None`` if ``GET /ca.pem``
        returns the certificate.
    """

    target: Target
    authority: Path | None

    def certificate(self, proxy: Running) -> str:
        """Return the certificate that clients must trust, in PEM."""
        if self.authority is not None:
            return self.authority.read_text("ascii")
        connection = http.client.HTTPConnection(*proxy.address, timeout=_SECONDS)
        connection.request("GET", "/ca.pem")
        return connection.getresponse().read().decode("ascii")


def ours(folder: Path, upstream_pem: Path, way: Way, command: str | None) -> MeasuredProxy:
    """
    Return the proxy of this checkout.

    :param folder: the directory for its certificate authority.
    :param upstream_pem: the certificate of the upstream server.
    :param way: only tunnels need certificates.
    :param command: another command in its place; it gets the same options.
    """
    extra: tuple[str, ...] = ("--ca-dir", str(folder))
    if way in {Way.SECURE, Way.SECURE_NEW}:
        extra += ("--upstream-ca", str(upstream_pem))
    if command is None:
        target = targets.ours(extra)
    else:
        plain = targets.from_command("ours", command)
        target = targets.Target("ours", plain.command + extra, plain.version)
    return MeasuredProxy(target, None)


def mitmproxy(folder: Path, upstream_pem: Path, cache: Path, way: Way) -> MeasuredProxy:
    """
    Return mitmproxy, after installing it into a virtual environment in ``cache`` if needed.

    :param folder: the directory for its certificate authority.
    :param upstream_pem: the certificate of the upstream server.
    :param way: only the mocked load gets the addon for mocks.
    :raises BenchmarkError: the installation failed.
    """
    mitmdump = _installed(cache)
    scripts = ["announce.py", *(["mock.py"] if way is Way.MOCKED else [])]
    command = (
        *(str(mitmdump), "--quiet", "--listen-host", "127.0.0.1", "--listen-port", "{port}"),
        *(part for script in scripts for part in ("--scripts", str(_ADDONS / script))),
        *("--set", "ready_file={ready}", "--set", f"confdir={folder}"),
        *("--set", f"ssl_verify_upstream_trusted_ca={upstream_pem}"),
    )
    version = _run([str(mitmdump), "--version"]).splitlines()[0].removeprefix("Mitmproxy: ")
    return MeasuredProxy(
        targets.Target("mitmproxy", command, version), folder / "mitmproxy-ca-cert.pem"
    )


def _installed(cache: Path) -> Path:
    folder = cache / "mitmproxy"
    mitmdump = folder / "bin/mitmdump"
    if not mitmdump.exists():
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(folder / "bin/pip"), "install", "--quiet", MITMPROXY])
    return mitmdump


def _run(command: list[str]) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise BenchmarkError(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
    return done.stdout
