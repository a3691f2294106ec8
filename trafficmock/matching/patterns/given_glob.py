"""Reads the globs that tests give: relative or not, and with errors for what cannot be meant."""

import re

import attrs

from trafficmock.matching.patterns.glob import Glob, compile_glob
from trafficmock.matching.patterns.glob_resolution import needs_base, resolve
from trafficmock.matching.patterns.glob_tokens import GlobError, Token, Wildcard, tokenize

_WITHOUT_PATH = re.compile(r"[^/*][^/]*://[^/?]*\*\*")
"""Globs that end with ``**`` in the place of the host, as ``https://**``. They seem to match
everything; but resolved as a URL, to ``https://**/``, they match only URLs that end with a slash.
"""

_SOCKET_AS_IT_IS = re.compile(r"http\+unix:(?!//[^/])|unix:", re.IGNORECASE)

_JAVASCRIPT = {
    Wildcard.SEGMENT: "[^/]*",
    Wildcard.ANYTHING: ".*",
    Wildcard.DIRECTORIES: "(?:.+/)?",
}
_SYNTAX = re.compile(r"[\\^$.*+?()\[\]{}|/]")


@attrs.frozen
class GivenGlob:
    """A glob as a test gave it.

    :param base_url: the URL that relative globs are resolved against, if there is one.
    :param websocket: whether the glob is for WebSocket URLs.
    """

    glob: str
    base_url: str | None = None
    websocket: bool = False

    def check_path(self) -> None:
        """Check that the glob is not one for requests that ends within the host.

        :raises GlobError: it does, as ``https://**``, or it is one for requests over UNIX sockets
            and has the path of the socket as it is, or the scheme ``unix``.
        """
        if _SOCKET_AS_IT_IS.match(self.glob):
            raise GlobError(
                f"the glob {self.glob!r} names no UNIX socket: write the path of the socket "
                "percent-encoded in the place of the host, as http+unix://%2Frun%2Fdocker.sock/info"
            )
        if not self.websocket and _WITHOUT_PATH.fullmatch(self.glob):
            raise GlobError(
                f"the glob {self.glob!r} has no path, so that it matches only URLs that end with "
                f"a slash, such as https://HOST/: write {f'{self.glob}/*'!r}"
            )

    def compile(self) -> Glob:
        """Compile the glob.

        :raises GlobError: it is invalid, or :meth:`check_path` refuses it.
        """
        self.check_path()
        return compile_glob(self.glob, base_url=self._base, websocket=self.websocket)

    def absolute(self) -> str | None:
        """Return the glob in a form that means the same without the base URL, if there is one."""
        if not needs_base(self.glob):
            return self.glob
        found = self._resolved()
        is_final = not needs_base(found) and resolve(found, websocket=self.websocket) == found
        return found if is_final else None

    def javascript(self) -> str:
        """Return the source of a JavaScript regular expression for whole URLs, without flags.

        :raises GlobError: as :meth:`compile` does.
        """
        self.compile()
        if not self.glob:
            return "^"
        return f"^{''.join(map(_translate, tokenize(self._resolved())))}$"

    @property
    def _base(self) -> str | None:
        # With a base that is no URL, no URL could be parsed.
        return self.base_url if needs_base(self.glob) else None

    def _resolved(self) -> str:
        return resolve(self.glob, base_url=self._base, websocket=self.websocket)


def _translate(token: Token) -> str:
    if isinstance(token, str):
        return _SYNTAX.sub(r"\\\g<0>", token)
    if isinstance(token, Wildcard):
        return _JAVASCRIPT[token]
    return f"(?:{'|'.join(''.join(map(_translate, branch)) for branch in token)})"
