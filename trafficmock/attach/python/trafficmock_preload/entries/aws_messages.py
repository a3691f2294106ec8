"""Carries the context of a test in the attributes of messages of SQS and SNS.

They are sent by botocore, and by the resources of boto3, which call it.
"""

from __future__ import annotations

import json
from functools import partial

from trafficmock_preload.entries.context_reading import MEMBER
from trafficmock_preload.entries.task_entries import HEADER, carrying
from trafficmock_preload.sending_code import note_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

    from trafficmock_preload.current_context import TestContexts

_MOST_ATTRIBUTES = 10
"""The limit of SQS, and of SNS where it delivers to it."""

_MOST_BYTES = 256 * 1024
"""The limit of SQS and SNS for the messages of one call."""

_ADDED_BYTES = 128
"""An attribute with the context: name, type and value, at most."""

_ENTRIES = {"SendMessageBatch": "Entries", "PublishBatch": "PublishBatchRequestEntries"}
"""Calls that send several messages, with their parameter."""


def change_botocore(module: ModuleType, contexts: TestContexts) -> None:
    """Add the context to messages that are sent, and set it where a received one is handled."""
    client: Any = module.__dict__["BaseClient"]
    original = client._make_api_call

    def call(self: Any, operation: str, given: Any) -> Any:
        if self.meta.service_model.service_name not in {"sqs", "sns"} or not isinstance(
            given, dict
        ):
            return original(self, operation, given)
        if operation == "ReceiveMessage":
            return _received(partial(original, self, operation), given, contexts)
        return original(self, operation, _sent(operation, given, contexts))

    client._make_api_call = call


def change_boto3_resources(module: ModuleType, contexts: TestContexts) -> None:
    """Keep the contexts of messages where boto3 makes objects of them (``receive_messages``)."""
    handler: Any = module.__dict__["ResourceHandler"]
    original = handler.__call__

    def called(self: Any, parent: Any, params: Any, response: Any) -> Any:
        made = original(self, parent, params, response)
        messages = response.get("Messages") if isinstance(response, dict) else None
        if not isinstance(messages, Messages) or not isinstance(made, list):
            return made
        return messages.as_objects(made)

    handler.__call__ = called


def _sent(operation: str, given: dict[str, Any], contexts: TestContexts) -> dict[str, Any]:
    """Return the parameters of a call with the context in its messages, if they may have it."""
    if operation in {"SendMessage", "Publish"}:
        count, changed = 1, _with_attribute(given, contexts)
    elif operation in _ENTRIES and isinstance(given.get(_ENTRIES[operation]), list):
        entries = given[_ENTRIES[operation]]
        count = len(entries)
        changed = {
            **given,
            _ENTRIES[operation]: [_with_attribute(each, contexts) for each in entries],
        }
    else:
        return given
    size = len(json.dumps(given, default=str, ensure_ascii=False).encode(errors="replace"))
    return given if size + count * _ADDED_BYTES > _MOST_BYTES else changed


def _with_attribute(message: Any, contexts: TestContexts) -> Any:
    """Return a message with the context; the same one if it has no place for it."""
    if not isinstance(message, dict):
        return message
    attributes = message.get("MessageAttributes") or {}
    if not isinstance(attributes, dict):
        return message
    present = attributes.get(HEADER)
    if present is None and len(attributes) >= _MOST_ATTRIBUTES:
        return message
    value = present.get("StringValue") if isinstance(present, dict) else present
    if present is not None and not isinstance(value, str):
        return message
    added = carrying(None if value is None else {HEADER: value}, contexts)
    if added is None:
        return message
    attribute = {"DataType": "String", "StringValue": added[HEADER]}
    return {**message, "MessageAttributes": {**attributes, HEADER: attribute}}


def _received(call: Any, given: dict[str, Any], contexts: TestContexts) -> Any:
    """Ask for messages with their contexts, which an application that did not ask does not see.

    Until a test has a context, the call is left as it is.
    """
    names = given.get("MessageAttributeNames") or []
    is_asked = any(name in {"All", ".*", HEADER} for name in names) or not contexts.are_wanted()
    asked = given if is_asked else {**given, "MessageAttributeNames": [*names, HEADER]}
    result = call(asked)
    if isinstance(result, dict) and isinstance(result.get("Messages"), list):
        if result["Messages"]:
            note_messages("SQS")
        headers = [_headers(message) for message in result["Messages"]]
        if not is_asked:
            for message in result["Messages"]:
                _remove_attribute(message)
        if any(headers):
            result["Messages"] = Messages(result["Messages"], headers, contexts)
    return result


class Messages(list):  # type: ignore[type-arg]  # Python 3.8 has no ``list[...]`` here
    """Messages of one answer. In a loop over them, each has its context.

    :param headers: those of each message, with the context, or ``None``.
    """

    def __init__(self, messages: list[Any], headers: list[Any], contexts: TestContexts) -> None:
        super().__init__(messages)
        self._headers = headers
        self._contexts = contexts

    def as_objects(self, made: list[Any]) -> list[Any]:
        """Return objects that were made of the messages, each with the context of its message."""
        return Messages(made, self._headers, self._contexts)

    def __iter__(self) -> Iterator[Any]:
        contexts, before = self._contexts, self._contexts.running()
        for message, headers in zip(super().__iter__(), self._headers):
            context = contexts.read(headers, None, None) if headers else before
            contexts.enter(context)
            try:
                yield message
            finally:
                if context is not before:
                    contexts.close(context)
                # A loop that is left by an error may be closed later, by code of another request.
                if contexts.running() is context:
                    contexts.enter(before)


def _headers(message: Any) -> str | None:
    """Return the baggage of a message. One of SNS may have it in its body."""
    found = (message.get("MessageAttributes") or {}).get(HEADER, {}).get("StringValue")
    body = message.get("Body")
    if found is None and isinstance(body, str) and MEMBER in body:
        try:
            found = json.loads(body)["MessageAttributes"][HEADER]["Value"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return None
    return found if isinstance(found, str) else None


def _remove_attribute(message: Any) -> None:
    attributes = message.get("MessageAttributes")
    if not attributes or attributes.pop(HEADER, None) is None or attributes:
        return
    del message["MessageAttributes"]
    message.pop("MD5OfMessageAttributes", None)
