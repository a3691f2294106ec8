"""The options of an answer, as a test writes them.

Test sides send them under the names that their language has (``content_type``, ``contentType``),
with the values as they were written; the coordinator reads them, and refuses wrong ones in that
spelling. What only a language can read is read before: bodies are bytes then.

:class:`AnswerOptions` is the one declaration of the options. ``python -m tools.answer_arguments``
writes from it the arguments of the test API in Python and the types of the one in JavaScript.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

from msgspec import UNSET, Raw, Struct, UnsetType

from trafficmock.wire.payloads.body import ABSENT, MessageBody
from trafficmock.wire.payloads.quiet_repr import quiet_repr
from trafficmock.wire.payloads.serialized_response import SerializedResponse

if TYPE_CHECKING:
    WrittenOptions = dict[str, Any]
else:
    WrittenOptions = dict[str, Raw]
    """Options by their names in the test's language: what the decoder of messages makes of them."""


class FileContent(Struct, frozen=True, rename="camel"):
    """The file of ``path``, which the test side has read.

    :param type: the content type of its extension.
    """

    content: MessageBody
    type: str

    __repr__ = quiet_repr


class Foreign(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that JSON does not have, in the place of an option's value.

    :param foreign: how the language shows it, for errors.
    """

    foreign: str

    __repr__ = quiet_repr


Call = Literal["mock", "step", "stream", "fulfill", "continue", "abort"]
"""What has options: ``mock``, an answer of its ``sequence``, ``stream`` of a test and of a route,
and the decisions of a route."""


class Option(NamedTuple):
    """What a test knows of an option.

    :param calls: those that have it, or have it in this form.
    :param python: its type; in Python it is ``None`` by default.
    :param typescript: its type.
    :param text: what it is; code is between double backticks, names are Python's.
    :param default: what holds without it.
    :param inherited: what holds without it where the call has ``response``.
    """

    calls: tuple[Call, ...]
    python: str
    typescript: str
    text: str
    default: str = ""
    inherited: str = ""


_HEAD: tuple[Call, ...] = ("mock", "step", "stream", "fulfill")
_MOCKS: tuple[Call, ...] = ("mock", "step")
_WHOLE: tuple[Call, ...] = ("mock", "step", "fulfill")
_PACED: tuple[Call, ...] = ("mock", "step", "fulfill", "continue")

HeaderFields = list[tuple[str, str]]
"""Names and values of fields, in order."""

_PAIRS = "HeadersArgument"
_PAIRS_TS = "Record<string, string | number | boolean | undefined>"


class AnswerOptions(Struct, frozen=True, kw_only=True):
    """The options of each :data:`Call`, in the order in which calls list them."""

    status: Annotated[
        Any,
        Option(_HEAD, "int", "number", "200 to 999", "200", "that of ``response``, else 200"),
    ] = UNSET
    status_text: Annotated[
        Any,
        Option(
            _HEAD,
            "str",
            "string",
            "the reason phrase, in latin-1 without control characters",
            "the standard one, such as ``Not Found`` for 404",
            "that of ``response`` if its status is used, else the standard one",
        ),
    ] = UNSET
    headers: Annotated[
        HeaderFields | UnsetType,
        Option(
            _HEAD,
            _PAIRS,
            _PAIRS_TS,
            "all headers; values are converted to text",
            inherited="those of ``response``",
        ),
    ] = UNSET
    body: Annotated[
        MessageBody,
        Option(
            _MOCKS,
            "str | bytes",
            "string | Uint8Array",
            "the body; text is sent as UTF-8",
            "none",
        ),
        Option(
            ("fulfill",),
            "Any",
            "string | Uint8Array | Iterable<string | Uint8Array> | "
            "AsyncIterable<string | Uint8Array>",
            "the body; text is sent as UTF-8. The parts of an iterable or async iterable are sent "
            "one by one; the call is done when the last one has reached the application's process",
            "that of ``response``, else none",
        ),
    ] = ABSENT
    json: Annotated[
        MessageBody,
        Option(_WHOLE, "Any", "unknown", "a value that is sent as JSON, in the place of ``body``"),
    ] = ABSENT
    path: Annotated[
        FileContent | UnsetType,
        Option(
            _WHOLE,
            "str | os.PathLike[str]",
            "string",
            "a file whose content is the body; it is read by the call, and its extension gives "
            "the content type",
        ),
    ] = UNSET
    content_type: Annotated[
        Any,
        Option(
            _WHOLE,
            "str",
            "string",
            "the value of ``content-type``, in the place of any other",
            "by ``json`` or ``path``",
        ),
        Option(("stream",), "str", "string", "the value of ``content-type``"),
    ] = UNSET
    trailers: Annotated[
        HeaderFields | UnsetType,
        Option(
            _HEAD,
            _PAIRS,
            _PAIRS_TS,
            "header fields that follow the body (RFC 9110 section 6.5), which is sent in chunks "
            "then",
            inherited="those of ``response``, with its body",
        ),
    ] = UNSET
    response: Annotated[
        SerializedResponse | UnsetType,
        Option(
            ("fulfill",),
            "AsyncResponse",
            "Response",
            "a response of ``route.fetch()``; the other options replace its parts",
        ),
    ] = UNSET
    chunks: Annotated[
        list[MessageBody] | UnsetType,
        Option(
            _MOCKS,
            "Iterable[str | bytes]",
            "Iterable<string | Uint8Array>",
            "the body in pieces, which are sent one by one, in the place of ``body``; not with "
            "``fault`` or ``rate``",
        ),
    ] = UNSET
    abort: Annotated[
        Any,
        Option(
            ("step",),
            "str",
            "AbortErrorCode",
            "a failure in the place of a response, with no option but ``delay``",
        ),
    ] = UNSET
    delay: Annotated[
        Any,
        Option(
            _MOCKS,
            "Delay",
            "number",
            "{duration} from each request on, after which the proxy answers; with ``chunks`` the "
            "time between two of them",
        ),
        Option(
            ("fulfill", "continue", "abort"),
            "Delay",
            "number",
            "{duration} after which the proxy sends the decision. The call returns at once. A test "
            "that ends before fails",
        ),
    ] = UNSET
    fault: Annotated[
        Any,
        Option(
            _PACED,
            "FaultKind",
            "Fault",
            "how the answer breaks: ``connection_reset``, ``empty_response``, "
            "``truncated``, ``malformed_chunk`` or ``stall``",
        ),
    ] = UNSET
    after: Annotated[
        Any,
        Option(
            _PACED,
            "int",
            "number",
            "the bytes of the body before the fault",
            "half of it for ``truncated``, none for the others",
        ),
    ] = UNSET
    rate: Annotated[
        Any,
        Option(
            _PACED,
            "int",
            "number",
            "the bytes of the body that the application gets in a second; not with ``fault``",
            "all at once",
        ),
    ] = UNSET
    sequence: Annotated[
        Any,
        Option(
            ("mock",),
            "Sequence[int | Mapping[str, Any]]",
            "readonly SequenceAnswer[]",
            "the answers to one request after the other, in the place of a single one: statuses, "
            "and these options by name, or ``abort`` with an error code. The last one is repeated",
        ),
    ] = UNSET

    __repr__ = quiet_repr


_HINTS = get_type_hints(AnswerOptions, include_extras=True)
DECLARED = [(name, option) for name, hint in _HINTS.items() for option in get_args(hint)[1:]]
"""The options by their names in Python, each with all of its forms."""

_BY_CALL: dict[Call, dict[str, Option]] = {
    call: {name: option for name, option in DECLARED if call in option.calls}
    for call in get_args(Call)
}
HEADER_OPTIONS = [
    name for name, hint in _HINTS.items() if get_args(hint)[0] == HeaderFields | UnsetType
]
"""The options that are fields of HTTP: test sides send them as pairs."""


def options_of(call: Call) -> dict[str, Option]:
    """Return the options of a call by their names in Python."""
    return _BY_CALL[call]
