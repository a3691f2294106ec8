"""Asks a model by an SDK, and prints what that gives as it comes, one JSON value per line.

Arguments: the kind of answer, the URL of the service, how often the SDK may try again.
"""

import json
import sys
from typing import Any

QUESTION: Any = [{"role": "user", "content": "?"}]
RETRIES = int(sys.argv[3])


def tell(kind: str, value: object) -> None:
    sys.stdout.write(json.dumps([kind, value]) + "\n")
    sys.stdout.flush()


def chat(base: str) -> None:
    import openai  # noqa: PLC0415 - one SDK is enough

    client = openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=RETRIES)
    usage: Any = {"include_usage": True}
    for chunk in client.chat.completions.create(
        model="m", messages=QUESTION, stream=True, stream_options=usage
    ):
        for choice in chunk.choices:
            if choice.delta.content:
                tell("text", choice.delta.content)
            for call in choice.delta.tool_calls or ():
                tell("tool", [call.function.name, json.loads(call.function.arguments)])
            if choice.finish_reason:
                tell("end", choice.finish_reason)
        if chunk.usage:
            tell("usage", chunk.usage.total_tokens)


def response(base: str) -> None:
    import openai  # noqa: PLC0415 - one SDK is enough

    client = openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=RETRIES)
    event: Any
    for event in client.responses.create(model="m", input="?", stream=True):
        match event.type:
            case "response.output_text.delta":
                tell("text", event.delta)
            case "response.output_item.done" if event.item.type == "function_call":
                tell("tool", [event.item.name, json.loads(event.item.arguments)])
            case "response.completed":
                tell("end", event.response.output_text)
                tell("usage", event.response.usage.total_tokens)
            case "error":
                tell("error", [type(event).__name__, event.message])


def message(base: str) -> None:
    import anthropic  # noqa: PLC0415 - one SDK is enough

    client = anthropic.Anthropic(base_url=base, api_key="k", max_retries=RETRIES)
    event: Any
    with client.messages.stream(model="m", max_tokens=9, messages=QUESTION) as stream:
        for event in stream:
            if event.type == "text":
                tell("text", event.text)
            elif event.type == "content_block_stop" and event.content_block.type == "tool_use":
                tell("tool", [event.content_block.name, event.content_block.input])
        final = stream.get_final_message()
        tell("end", final.stop_reason)
        tell("usage", final.usage.output_tokens)


try:
    {"chat": chat, "response": response, "message": message}[sys.argv[1]](sys.argv[2])
except Exception as error:  # noqa: BLE001 - the test looks at it
    tell("error", [type(error).__name__, str(error)])
