"""The options of an answer, as a test writes them.

Test sides send them under the names that their language has (``content_type``, ``contentType``),
with the values as they were written; the coordinator reads them, and refuses wrong ones in that
spelling. What only a language can read is read before: bodies are bytes then.
"""

from typing import TYPE_CHECKING, Any

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


class AnswerOptions(Struct, frozen=True, kw_only=True):
    """The options of ``mock``, ``fulfill``, ``continue``, ``abort`` and of a step of a sequence.

    :param status: 200 to 999; by default that of ``response``, else 200.
    :param status_text: the reason phrase, in latin-1 without control characters.
    :param headers: pairs of a name and a value; they replace those of ``response``.
    :param body: the body, in base64.
    :param json: a body that is JSON, in base64.
    :param path: the file whose content is the body.
    :param response: a fetched response; its parts are used where no other option gives them.
    :param content_type: the value of ``content-type``, in the place of any other.
    :param trailers: pairs of a name and a value, which follow the body (RFC 9110 section 6.5).
    :param chunks: the pieces of a body that are sent one by one, each in base64.
    :param abort: the error code with which the request fails instead.
    :param delay: the milliseconds after which the answer is given; with ``chunks`` the time between
        two of them.
    :param fault: how the answer breaks, one of ``FaultKind``.
    :param after: the bytes of the body before the fault.
    :param rate: the bytes of the body that are sent in a second.
    """

    status: Any = UNSET
    status_text: Any = UNSET
    headers: list[tuple[str, str]] | UnsetType = UNSET
    body: MessageBody = ABSENT
    json: MessageBody = ABSENT
    path: FileContent | UnsetType = UNSET
    response: SerializedResponse | UnsetType = UNSET
    content_type: Any = UNSET
    trailers: list[tuple[str, str]] | UnsetType = UNSET
    chunks: list[MessageBody] | UnsetType = UNSET
    abort: Any = UNSET
    delay: Any = UNSET
    fault: Any = UNSET
    after: Any = UNSET
    rate: Any = UNSET

    __repr__ = quiet_repr
