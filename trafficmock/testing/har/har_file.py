"""A HAR on disk: a JSON file with body files beside it, or a zip archive of both."""

from __future__ import annotations

import io
import json
import lzma
import math
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import field, frozen

from trafficmock import __version__
from trafficmock.testing.errors import UsageError
from trafficmock.whole_files import rewrite_whole

_IN_ARCHIVE = "har.har"

_NO_HAR = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,  # nested too deeply
    RuntimeError,  # an archive with a password, or in an unknown coding
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""What reading raises for a file that is something else, or damaged."""


@frozen
class HarFile:
    """A HAR file, or an archive if its name ends in ``.zip``."""

    path: Path = field(converter=Path)

    def _is_archive(self) -> bool:
        return self.path.suffix == ".zip"

    def exists(self) -> bool:
        """Return whether the file is there."""
        return self.path.exists()

    def entries(self) -> list[dict[str, Any]]:
        """Read the entries.

        :raises UsageError: the file is missing, cannot be read, or is no HAR.
        """
        try:
            text = self._archived(_IN_ARCHIVE) if self._is_archive() else self.path.read_bytes()
            document = json.loads(text, parse_float=_finite, parse_constant=_refused)
            # A log without the list has no entries, as for Playwright.
            found = document["log"].get("entries", [])
        except FileNotFoundError:
            raise UsageError(
                f"there is no HAR {self.path}. To record it, run the test once with "
                f"route_from_har({str(self.path)!r}, mode='once')"
            ) from None
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror}") from None
        except _NO_HAR:
            found = None
        if not isinstance(found, list):
            raise UsageError(f"{self.path} is no HAR: it is not JSON with a list log.entries")
        return found

    def read(self, name: str) -> bytes:
        """Read a body from a file beside the HAR, or from the archive.

        :raises UsageError: the name leads out of the HAR's directory.
        :raises OSError: there is no such file.
        """
        if self._is_archive():
            self._check(name)
            try:
                return self._archived(name)
            except KeyError as error:
                raise FileNotFoundError(f"{name} is not in {self.path}") from error
        return self._beside(name).read_bytes()

    def _check(self, name: str) -> None:
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts:
            raise UsageError(f"{name!r} leads out of the directory of {self.path}")

    def _beside(self, name: str) -> Path:
        self._check(name)
        directory = self.path.parent.resolve()
        file = (directory / name).resolve()
        if not file.is_relative_to(directory):
            raise UsageError(f"{name!r} leads out of the directory of {self.path}")
        return file

    def save(self, entries: list[dict[str, Any]], files: dict[str, bytes]) -> None:
        """Write the HAR and its body files, each as a whole, and the HAR last.

        :param files: the bodies, by file name.
        """
        creator = {"name": "trafficmock", "version": __version__}
        document = {"log": {"version": "1.2", "creator": creator, "entries": entries}}
        text = json.dumps(document, indent=2).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._is_archive():
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in {_IN_ARCHIVE: text, **files}.items():
                    archive.writestr(name, content)
            rewrite_whole(self.path, buffer.getvalue())
            return
        for name, content in files.items():
            rewrite_whole(self.path.parent / name, content)
        rewrite_whole(self.path, text)

    def _archived(self, name: str) -> bytes:
        with zipfile.ZipFile(self.path) as archive:
            names = [each for each in archive.namelist() if each.endswith(".har")]
            wanted = name if name != _IN_ARCHIVE or name in names else (names or [name])[0]
            return archive.read(wanted)


def _finite(number: str) -> float | None:
    """Read a number; ``null`` for one that is too large, as JavaScript writes it."""
    return value if math.isfinite(value := float(number)) else None


def _refused(constant: str) -> None:
    """Refuse ``NaN`` and ``Infinity``.

    :raises ValueError: always: they are no JSON.
    """
    raise ValueError(constant)
