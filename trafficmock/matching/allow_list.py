"""The allow list of strict mode: patterns for the hosts and URLs of allowed requests, and matchers.

A pattern without a slash is a host with an optional port; a pattern with a slash is a URL glob. One
that begins with ``preset:`` names what a framework sends for itself. A matcher is that of a route,
for requests that must have more than a URL.
"""

import re
from collections.abc import Callable, Iterable

from attrs import frozen

from trafficmock.matching.compiled_matcher import RouteMatcher
from trafficmock.matching.host_pattern import (
    LONGEST_PATTERN,
    HostPattern,
    PatternError,
    check_characters,
    matches_any,
    read_host_pattern,
)
from trafficmock.matching.patterns.framework_calls import (
    ALL,
    PREFIX,
    PRESETS,
    framework_call,
    problem_of_preset,
)
from trafficmock.matching.patterns.glob import Glob, compile_glob
from trafficmock.matching.patterns.glob_resolution import needs_base
from trafficmock.matching.patterns.glob_tokens import GlobError
from trafficmock.matching.patterns.match_result import YES
from trafficmock.matching.request_content import RequestContent
from trafficmock.matching.url_parts import UrlParts, bare_url

MOST_PATTERNS = 1000
"""The most patterns and matchers of one list."""

_WITHOUT_PATH = re.compile(r"[^/]*://[^/]*")
"""A glob of a scheme and a host without a path: it matches no URL, since URLs have a path."""


@frozen(eq=False)
class AllowList:
    """The allow list of a test, a run or the service.

    :param texts: the patterns as the user wrote them, and descriptions of the matchers.
    """

    texts: tuple[str, ...] = ()
    hosts: tuple[HostPattern, ...] = ()
    globs: tuple[Glob, ...] = ()
    matchers: tuple[RouteMatcher, ...] = ()
    presets: frozenset[str] = frozenset()

    def allows(self, url: str, parts: UrlParts | None) -> bool:
        """Return whether a pattern allows a request.

        :param url: the whole URL.
        :param parts: the parts of ``url``; ``None`` for a URL that no parser accepts, which then
            only a glob can allow.
        """
        if parts is not None and matches_any(self.hosts, parts.host, parts.port):
            return True
        if self.presets:
            call = framework_call(url)
            if call is not None and call.preset in self.presets:
                return True
        if self.globs and "@" in url:
            # Without this, the star of `https://*.test/` could match `user@evil` before `.test`.
            url = bare_url(url)
        return any(glob.fullmatch(url) for glob in self.globs)

    def meets(
        self, url: str, method: str, client_id: str, content: Callable[[], RequestContent] | None
    ) -> bool | None:
        """Return whether a request meets a matcher; ``None`` if that depends on a body to come.

        :param url: the whole URL.
        :param method: the method, in any case; ``GET`` for a WebSocket.
        :param content: returns the parts of the request; ``None`` for a WebSocket, which meets no
            matcher with conditions on more than the URL.
        """
        if self.matchers and "@" in url:
            url = bare_url(url)
        result: bool | None = False
        for each in self.matchers:
            if each.judge(url, method, client_id) is not YES:
                continue
            if each.beside is None:
                return True
            met = content is not None and each.beside.hold(content())
            if met:
                return True
            if met is None:
                result = None
        return result


def read_allow_list(patterns: Iterable[str]) -> AllowList:
    """Parse the patterns of an allow list.

    :param patterns: such as ``auth.example``, ``*.example.com``, ``[::1]:8080``,
        ``https://auth.example/token*`` and ``preset:next``.
    :raises PatternError: for a pattern that is none of these, and for more than
        :data:`MOST_PATTERNS` or too many characters.
    """
    texts = tuple(patterns)
    if len(texts) > MOST_PATTERNS:
        raise PatternError(
            texts[MOST_PATTERNS], f"is one too many: at most {MOST_PATTERNS} are read"
        )
    check_characters(texts)
    hosts, globs = [], []
    presets: set[str] = set()
    for text in texts:
        if text.startswith(PREFIX):
            presets.update(_read_preset(text))
        elif "/" in text:
            globs.append(_read_glob(text))
        else:
            hosts.append(read_host_pattern(text))
    return AllowList(texts, tuple(hosts), tuple(globs), presets=frozenset(presets))


def _read_preset(text: str) -> tuple[str, ...]:
    name = text.removeprefix(PREFIX)
    if problem := problem_of_preset(name):
        raise PatternError(text, problem)
    return PRESETS if name == ALL else (name,)


def _read_glob(text: str) -> Glob:
    if len(text) > LONGEST_PATTERN:
        raise PatternError(text, f"has more than {LONGEST_PATTERN} characters")
    if needs_base(text) or (text[0] == "*" and text[1] != "*" and "://" not in text):
        raise PatternError(text, "is no whole URL: write https://HOST/… or **/…")
    try:
        text.encode()
        glob = compile_glob(text)
    except UnicodeEncodeError:
        raise PatternError(text, "has half a character (a lone surrogate)") from None
    except GlobError as error:
        raise PatternError(text, f"is no URL glob: {error}") from error
    if _WITHOUT_PATH.fullmatch(text):
        raise PatternError(
            text, "has no path, as all URLs have: write HOST alone, or https://HOST/**"
        )
    return glob
