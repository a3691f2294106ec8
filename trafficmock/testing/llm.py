"""Streamed answers of language models, on the wire of OpenAI and Anthropic.

Each class writes to a stream of a test, so that the test may look at the application between two
tokens. It is no emulator: the test says each part, and the request is not read.
"""

from __future__ import annotations

import json
from typing import Any, Generic, Protocol, TypeVar

from trafficmock.testing.keywords import methods_check_keywords
from trafficmock.testing.session.arguments.stream_parts import server_sent_event

EVENT_STREAM = "text/event-stream"
"""The content type of these answers."""

DoneT = TypeVar("DoneT")
DoneT_co = TypeVar("DoneT_co", covariant=True)


class PartStream(Protocol[DoneT_co]):
    """A stream of a test, whose calls block or are awaited."""

    def send(self, data: str | bytes) -> DoneT_co:
        """Send a part of the body."""


@methods_check_keywords
class _Answer(Generic[DoneT]):
    """The parent of the answers: numbers its parts, and sends several events as one part.

    :param stream: of ``trafficmock.stream`` or ``route.stream``; the test ends it.
    :param model: the name of the model in the answer.
    """

    def __init__(self, stream: PartStream[DoneT], *, model: str = "mocked-model") -> None:
        self.stream = stream
        self.model = model
        self._events: list[bytes] = []
        self._parts: list[dict[str, Any]] = []

    def _add(self, value: Any, event: str | None = None) -> None:
        self._events.append(server_sent_event(None, event, None, None, value))

    def _send(self) -> DoneT:
        content, self._events = b"".join(self._events), []
        return self.stream.send(content)


@methods_check_keywords
class ChatCompletion(_Answer[DoneT]):
    """A chat completion of OpenAI, and of the many services with the same wire."""

    def text(self, text: str) -> DoneT:
        """Send a part of the text."""
        self._delta({"content": text})
        return self._send()

    def tool_call(self, name: str, arguments: Any, *, call_id: str = "call_1") -> DoneT:
        """Send a call of a tool.

        :param arguments: an object that is sent as JSON.
        """
        call = {
            "index": sum("tool" in part for part in self._parts),
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        self._delta({"tool_calls": [call]})
        self._parts.append({"tool": name})
        return self._send()

    def finish(self, *, input_tokens: int | None = None, output_tokens: int = 0) -> DoneT:
        """Send the reason of the end, the usage if ``input_tokens`` is given, and the last line."""
        called = any("tool" in part for part in self._parts)
        self._add(self._chunk([_choice({}, "tool_calls" if called else "stop")]))
        if input_tokens is not None:
            usage = {
                "prompt_tokens": input_tokens,
                "completion_tokens": output_tokens,
                "total_tokens": input_tokens + output_tokens,
            }
            self._add({**self._chunk([]), "usage": usage})
        self._events.append(server_sent_event("[DONE]", None, None, None, None))
        return self._send()

    def error(self, message: str, *, kind: str = "server_error") -> DoneT:
        """Send an error in the place of the next part."""
        self._add({"error": {"message": message, "type": kind, "code": None, "param": None}})
        return self._send()

    def _delta(self, delta: dict[str, Any]) -> None:
        if not self._parts:
            self._parts.append({})
            delta = {"role": "assistant", **delta}
        self._add(self._chunk([_choice(delta, None)]))

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.model,
            "choices": choices,
        }


def _choice(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


@methods_check_keywords
class ModelResponse(_Answer[DoneT]):
    """A response of OpenAI's Responses API."""

    _number = 0

    def text(self, text: str) -> DoneT:
        """Send a part of the text."""
        self._begin()
        if self._part("message") is None:
            self._open({"type": "message", "role": "assistant", "content": []}, "msg")
            part = {"type": "output_text", "text": "", "annotations": []}
            self._of_item("response.content_part.added", content_index=0, part=part)
        item = self._parts[-1]
        item["text"] = item.get("text", "") + text
        self._of_item("response.output_text.delta", content_index=0, delta=text, logprobs=[])
        return self._send()

    def tool_call(self, name: str, arguments: Any, *, call_id: str = "call_1") -> DoneT:
        """Send a call of a tool; ``arguments`` is an object that is sent as JSON."""
        self._begin()
        self._close()
        call = {"type": "function_call", "call_id": call_id, "name": name, "arguments": ""}
        self._open(call, "fc")
        written = json.dumps(arguments)
        self._of_item("response.function_call_arguments.delta", delta=written)
        self._parts[-1]["arguments"] = written
        return self._send()

    def finish(self, *, input_tokens: int = 0, output_tokens: int = 0) -> DoneT:
        """Send the end of the response, with its usage."""
        self._begin()
        self._close()
        usage = {
            "input_tokens": input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input_tokens + output_tokens,
        }
        output = [part["item"] for part in self._parts]
        self._event("response.completed", response=self._response("completed", output, usage))
        return self._send()

    def error(self, message: str, *, code: str = "server_error") -> DoneT:
        """Send an error in the place of the next part."""
        self._begin()
        self._event("error", code=code, message=message, param=None)
        return self._send()

    def _begin(self) -> None:
        if not self._number:
            self._event("response.created", response=self._response("in_progress", [], None))

    def _part(self, kind: str) -> dict[str, Any] | None:
        last = self._parts[-1] if self._parts else None
        return last if last is not None and last["item"]["type"] == kind else None

    def _open(self, item: dict[str, Any], prefix: str) -> None:
        self._close()
        item_id = f"{prefix}_{len(self._parts) + 1}"
        item = {"id": item_id, **item, "status": "in_progress"}
        self._parts.append({"item": item})
        self._event("response.output_item.added", output_index=len(self._parts) - 1, item=item)

    def _close(self) -> None:
        """Complete the item that is open."""
        if not self._parts or self._parts[-1]["item"]["status"] == "completed":
            return
        part = self._parts[-1]
        if part["item"]["type"] == "message":
            text = part.get("text", "")
            whole = {"type": "output_text", "text": text, "annotations": []}
            self._of_item("response.output_text.done", content_index=0, text=text, logprobs=[])
            self._of_item("response.content_part.done", content_index=0, part=whole)
            done = {**part["item"], "content": [whole]}
        else:
            written = part["arguments"]
            self._of_item("response.function_call_arguments.done", arguments=written)
            done = {**part["item"], "arguments": written}
        part["item"] = {**done, "status": "completed"}
        index = len(self._parts) - 1
        self._event("response.output_item.done", output_index=index, item=part["item"])

    def _of_item(self, kind: str, **fields: Any) -> None:
        item_id = self._parts[-1]["item"]["id"]
        self._event(kind, item_id=item_id, output_index=len(self._parts) - 1, **fields)

    def _event(self, kind: str, **fields: Any) -> None:
        self._add({"type": kind, "sequence_number": self._number, **fields}, kind)
        self._number += 1

    def _response(self, status: str, output: list[Any], usage: Any) -> dict[str, Any]:
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": self.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": usage,
        }


@methods_check_keywords
class AnthropicMessage(_Answer[DoneT]):
    """A message of Anthropic.

    :param input_tokens: the usage that its beginning tells.
    """

    def __init__(
        self, stream: PartStream[DoneT], *, model: str = "mocked-model", input_tokens: int = 0
    ) -> None:
        super().__init__(stream, model=model)
        self._input_tokens = input_tokens
        self._has_begun = False

    def text(self, text: str) -> DoneT:
        """Send a part of the text."""
        if not self._parts or self._parts[-1]["type"] != "text":
            self._open({"type": "text", "text": ""})
        self._delta({"type": "text_delta", "text": text})
        return self._send()

    def tool_call(self, name: str, arguments: Any, *, call_id: str = "toolu_1") -> DoneT:
        """Send the use of a tool; ``arguments`` is an object that is sent as JSON."""
        self._open({"type": "tool_use", "id": call_id, "name": name, "input": {}})
        self._delta({"type": "input_json_delta", "partial_json": json.dumps(arguments)})
        return self._send()

    def finish(self, *, output_tokens: int = 0) -> DoneT:
        """Send the end of the message, with its reason and the usage."""
        self._begin()
        self._close()
        called = any(part["type"] == "tool_use" for part in self._parts)
        reason = "tool_use" if called else "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None}
        self._event("message_delta", delta=delta, usage={"output_tokens": output_tokens})
        self._event("message_stop")
        return self._send()

    def error(self, message: str, *, kind: str = "overloaded_error") -> DoneT:
        """Send an error in the place of the next part."""
        self._begin()
        self._event("error", error={"type": kind, "message": message})
        return self._send()

    def _begin(self) -> None:
        if self._has_begun:
            return
        self._has_begun = True
        message: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": self._input_tokens, "output_tokens": 0},
        }
        self._event("message_start", message=message)

    def _open(self, block: dict[str, Any]) -> None:
        self._begin()
        self._close()
        self._parts.append(block)
        self._event("content_block_start", index=len(self._parts) - 1, content_block=block)

    def _close(self) -> None:
        if self._parts:
            self._event("content_block_stop", index=len(self._parts) - 1)

    def _delta(self, delta: dict[str, Any]) -> None:
        self._event("content_block_delta", index=len(self._parts) - 1, delta=delta)

    def _event(self, kind: str, **fields: Any) -> None:
        self._add({"type": kind, **fields}, kind)
