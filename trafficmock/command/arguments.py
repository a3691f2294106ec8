"""Options that commands share, and the parsers of their values."""

from __future__ import annotations

import argparse
import os
import re
import textwrap
import time
from collections.abc import Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any, NoReturn

from trafficmock.attach.agent_variables import DEFAULT_PROXY_URL, proxy_url
from trafficmock.command.exit_status import USAGE, CommandError
from trafficmock.command.output.terminal import COLOURS
from trafficmock.command.rest.rest_client import RestClient
from trafficmock.redaction.redactor import Redactor
from trafficmock.texts.named_fields import InvalidFieldError, NamedFields

REQUEST_ACTIONS = ("pending", "fulfill", "continue", "abort", "passthrough", "error")
SOCKET_ACTIONS = ("pending", "matched", "passthrough", "error")

HELP_COLUMNS = 78
"""Columns of descriptions, which argparse does not wrap, so that examples keep their lines."""

_STATUS = re.compile(r"[1-9](xx|XX|[0-9]{2})", re.ASCII)
_AGO = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d)")
_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class CommandParser(argparse.ArgumentParser):
    """Parses the words of a command; wrong ones raise an error with status 2."""

    def error(self, message: str) -> NoReturn:
        """Raise the usage error, which argparse would print.

        :raises CommandError: always, with status 2.
        """
        raise CommandError(f"{message}; see `{self.prog} --help`", status=USAGE)

    def parse_args(  # type: ignore[override] # no command brings its own namespace
        self, args: Sequence[str] | None = None, namespace: None = None
    ) -> argparse.Namespace:
        """Parse the arguments.

        :raises CommandError: for an unknown option; the text suggests the nearest known one.
        """
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            word = unknown[0]
            if not word.startswith("-"):
                self.error(f"unknown argument {word!r}")
            # Every message names --help already.
            known = self._option_string_actions.keys() - {"-h", "--help"}
            near = get_close_matches(word.partition("=")[0], known, n=1)
            self.error(f"unknown option {word!r}" + (f", did you mean {near[0]}?" if near else ""))
        return options


def command_parser(
    name: str, description: str, examples: str, *, http_proxy: bool = True
) -> CommandParser:
    """Make the parser of a command.

    :param examples: lines for the end of the help.
    :param http_proxy: whether to add ``--proxy-url``.
    """
    parser = CommandParser(
        prog=f"trafficmock {name}",
        description=textwrap.fill(description, HELP_COLUMNS),
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if http_proxy:
        parser.add_argument(
            "--proxy-url",
            metavar="URL",
            help="base URL of the proxy; or set TRAFFICMOCK_PROXY_URL "
            f"(default {DEFAULT_PROXY_URL})",
        )
    return parser


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--json`` and ``--color``.

    :param what: the output of ``--json``, for the help.
    """
    parser.add_argument("--json", action="store_true", help=f"print {what}, for scripts")
    parser.add_argument(
        "--color",
        choices=COLOURS,
        default="auto",
        help="colours: auto is for terminals, unless NO_COLOR is set (default auto)",
    )


def add_redact(parser: argparse.ArgumentParser) -> None:
    """Add ``--redact``."""
    parser.add_argument(
        "--redact",
        metavar="FIELD",
        action="append",
        type=redacted_field,
        help="secret besides those of known names: header:NAME, query:NAME, json:PATH, form:NAME, "
        "regex:PATTERN; or off, to show all as it was. Repeatable",
    )


def redacted_field(text: str) -> str:
    """Check a word of ``--redact``.

    :raises argparse.ArgumentTypeError: if it is none.
    """
    try:
        NamedFields.of([text])
    except InvalidFieldError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("redact: ")) from None
    return text


def redactor(options: argparse.Namespace, client: RestClient) -> Redactor:
    """Make the redactor of ``--redact`` and of the proxy, whose marks are the same.

    :raises CommandError: if the words exclude each other, or the proxy does not answer.
    """
    described = client.get("/api/redaction")
    of_proxy = Redactor.described_by(described.document) if described.found else Redactor()
    return redactor_of(options, of_proxy)


def redactor_of(options: argparse.Namespace, before: Redactor) -> Redactor:
    """Return a redactor with what ``--redact`` adds.

    :raises CommandError: if the words exclude each other.
    """
    if not options.redact:
        return before
    try:
        return before.adding(options.redact)
    except InvalidFieldError as error:
        raise CommandError(f"--{error}", status=USAGE) from None


def add_filters(parser: argparse.ArgumentParser, actions: tuple[str, ...]) -> None:
    """Add the filters of both lists of the REST API.

    :param actions: the values of ``--action``.
    """
    filters = parser.add_argument_group("filters")
    filters.add_argument(
        "-q", "--search", metavar="TEXT", help="search all fields; URLs rank before bodies"
    )
    one_of = f"only this action: {', '.join(actions)}"
    filters.add_argument("--action", choices=actions, metavar="ACTION", help=one_of)
    filters.add_argument("--client-id", metavar="ID", help="only those of this application")
    filters.add_argument("--test-id", metavar="ID", help="only those of this test")
    filters.add_argument("--unowned", action="store_true", help="only those that belong to no test")
    filters.add_argument(
        "--late", action="store_true", help="only those made for a test that had ended"
    )
    moments = "not before: epoch milliseconds, 2026-01-31T14:00, or an age: 90s, 10m, 2h, 1d"
    filters.add_argument("--from", dest="from_", type=moment, metavar="WHEN", help=moments)
    filters.add_argument("--to", type=moment, metavar="WHEN", help="not after; the same forms")


def add_request_filters(made: argparse.ArgumentParser) -> None:
    """Add the filters of the list of HTTP requests."""
    filters = made.add_argument_group("filters of requests")
    filters.add_argument("--method", type=str.upper, metavar="METHOD", help="HTTP method")
    filters.add_argument(
        "--status",
        type=status,
        metavar="STATUS",
        help="status of the response: 404, or 4xx for a class",
    )


def status(text: str) -> str:
    """Parse a status, or a class of statuses such as ``4xx``.

    :raises argparse.ArgumentTypeError: if the text has another form.
    """
    if not _STATUS.fullmatch(text):
        raise argparse.ArgumentTypeError(f"a status such as 404, or 4xx, not {text!r}")
    return text


def count(text: str) -> int:
    """Parse a whole number.

    :raises argparse.ArgumentTypeError: if the text has another form.
    """
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"a whole number, 0 or more, not {text!r}")
    return int(text)


def moment(text: str, now_ms: int | None = None) -> int:
    """Parse a time.

    :param text: epoch milliseconds, a date and time of ISO 8601 (local without a zone), or an age:
        a number with ms, s, m, h or d.
    :param now_ms: the present time in epoch milliseconds; by default that of the clock.
    :returns: epoch milliseconds.
    :raises argparse.ArgumentTypeError: if the text has another form.
    """
    if text.isascii() and text.isdigit():
        return int(text)
    if ago := _AGO.fullmatch(text):
        now = time.time_ns() // 1_000_000 if now_ms is None else now_ms
        return max(0, now - round(float(ago[1]) * _UNITS[ago[2]]))
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(
            f"epoch milliseconds, a time such as 2026-01-31T14:00, or 10m, not {text!r}"
        ) from None


def filters(options: argparse.Namespace) -> dict[str, Any]:
    """Return the query parameters of the REST API; ``None`` for filters that are not given."""
    return {
        "q": options.search,
        "action": options.action,
        "clientId": options.client_id,
        "testId": options.test_id,
        "unowned": "true" if options.unowned else None,
        "late": "true" if options.late else None,
        "from": options.from_,
        "to": options.to,
        "method": getattr(options, "method", None),
        "status": getattr(options, "status", None),
    }


def proxy(options: argparse.Namespace) -> RestClient:
    """Make the client for the proxy of ``--proxy-url``, of the environment, or of the default URL.

    :raises CommandError: if the URL is not valid.
    """
    return RestClient.at(options.proxy_url or proxy_url(os.environ) or DEFAULT_PROXY_URL)
