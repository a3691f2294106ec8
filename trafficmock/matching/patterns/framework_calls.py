"""What frameworks and their tools send for themselves: version checks, advisories and telemetry.

Such a request belongs to no test, whichever test it happens to be sent under: a development server
asks for the latest version while it answers the first page. The table has only what was found in
the source of the tools, each with a URL that an application would not send for its own purposes.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from attrs import frozen

PREFIX = "preset:"
"""What an item of an allow list begins with that names a framework instead of a host."""

ALL = "all"
"""The preset of all frameworks."""


@frozen
class FrameworkCall:
    """A request that a framework sends for itself.

    :param preset: the framework's name in an allow list, behind :data:`PREFIX`.
    :param sender: its name for people.
    :param what: what it asks or tells.
    :param host: of the URL.
    :param path: a regular expression for path and query, from the slash on.
    :param shown: the path for people.
    :param off: how the framework is told not to send it; empty if there is no way.
    """

    preset: str
    sender: str
    what: str
    host: str
    path: str
    shown: str
    off: str = ""


_NPM = "registry.npmjs.org"
_NEXT = "NEXT_TELEMETRY_DISABLED=1"

FRAMEWORK_CALLS = (
    FrameworkCall("next", "Next.js", "its telemetry", "telemetry.nextjs.org", ".*", "/…", _NEXT),
    FrameworkCall(
        "next",
        "Next.js",
        "its version check",
        _NPM,
        r"(?:-/package/next/dist-tags|next(?:/[^/?]+)?)(?:\?.*)?",
        "/next, /next/TAG, /-/package/next/dist-tags",
    ),
    FrameworkCall(
        "next",
        "Next.js",
        "its check for security advisories",
        _NPM,
        r"-/npm/v1/security/advisories/bulk",
        "/-/npm/v1/security/advisories/bulk",
    ),
    FrameworkCall(
        "nuxt",
        "Nuxt",
        "its telemetry",
        "telemetry.nuxt.com",
        ".*",
        "/…",
        "NUXT_TELEMETRY_DISABLED=1",
    ),
    FrameworkCall(
        "astro",
        "Astro",
        "its telemetry",
        "telemetry.astro.build",
        ".*",
        "/…",
        "ASTRO_TELEMETRY_DISABLED=1",
    ),
    FrameworkCall(
        "astro",
        "Astro",
        "its version check",
        _NPM,
        r"astro/latest",
        "/astro/latest",
        "astro preferences disable checkUpdates",
    ),
    FrameworkCall(
        "angular",
        "Angular's CLI",
        "its analytics",
        "www.google-analytics.com",
        r"g/collect\?(?:.*&)?tid=G-(?:VETNJBW8L4|TBMPRL1BTM)(?:&.*)?",
        "/g/collect with its own tid",
        "NG_CLI_ANALYTICS=false",
    ),
    FrameworkCall(
        "storybook",
        "Storybook",
        "its telemetry and version check",
        "storybook.js.org",
        r"(?:event-log|versions\.json)(?:\?.*)?",
        "/event-log, /versions.json",
        "STORYBOOK_DISABLE_TELEMETRY=1",
    ),
    FrameworkCall(
        "prisma",
        "Prisma",
        "its version check",
        "checkpoint.prisma.io",
        ".*",
        "/…",
        "CHECKPOINT_DISABLE=1",
    ),
    FrameworkCall(
        "redwood",
        "RedwoodJS",
        "its telemetry",
        "telemetry.redwoodjs.com",
        ".*",
        "/…",
        "REDWOOD_DISABLE_TELEMETRY=1",
    ),
    FrameworkCall(
        "strapi",
        "Strapi",
        "its telemetry",
        "analytics.strapi.io",
        ".*",
        "/…",
        "STRAPI_TELEMETRY_DISABLED=true",
    ),
    FrameworkCall(
        "medusa",
        "Medusa",
        "its telemetry",
        "telemetry.medusa-commerce.com",
        ".*",
        "/…",
        "MEDUSA_DISABLE_TELEMETRY=true",
    ),
    FrameworkCall(
        "payload",
        "Payload",
        "its telemetry",
        "telemetry.payloadcms.com",
        ".*",
        "/…",
        "telemetry: false in its configuration",
    ),
    FrameworkCall(
        "wrangler",
        "Wrangler",
        "its telemetry and version check",
        "sparrow.cloudflare.com",
        ".*",
        "/…",
        "WRANGLER_SEND_METRICS=false",
    ),
    FrameworkCall(
        "turbo",
        "Turborepo",
        "its telemetry",
        "telemetry.vercel.com",
        ".*",
        "/…",
        "TURBO_TELEMETRY_DISABLED=1",
    ),
    FrameworkCall(
        "npm",
        "npm",
        "its version check",
        _NPM,
        r"npm(?:/latest)?",
        "/npm, /npm/latest",
        "npm_config_update_notifier=false",
    ),
)

PRESETS = tuple(dict.fromkeys(each.preset for each in FRAMEWORK_CALLS))
"""The names of the presets, in the order of the table."""

_BY_HOST: dict[str, list[tuple[re.Pattern[str], FrameworkCall]]] = {}
for _call in FRAMEWORK_CALLS:
    _BY_HOST.setdefault(_call.host, []).append((re.compile(_call.path, re.DOTALL), _call))


def framework_call(url: str) -> FrameworkCall | None:
    """Return what sends a request to this URL for itself; ``None`` for any other request."""
    # Every request is asked about, and for almost all of them the host decides.
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    host, colon, port = authority.partition(":")
    calls = _BY_HOST.get(host)
    if calls is None or scheme not in {"http", "https"} or (colon and not port.isdecimal()):
        return None
    return next((call for pattern, call in calls if pattern.fullmatch(path)), None)


def problem_of_preset(name: str) -> str:
    """Return what is wrong with the name of a preset; empty for a known one."""
    if name == ALL or name in PRESETS:
        return ""
    near = get_close_matches(name, (*PRESETS, ALL), n=1)
    hint = f"did you mean {PREFIX}{near[0]}? " if near else ""
    return f"is no preset: {hint}There are {', '.join(PRESETS)}, and {ALL} for all of them"
