import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ChatCompletion, AnthropicMessage, ModelResponse } from "trafficmock-playwright/llm";

const SAMPLES = JSON.parse(
  readFileSync(new URL("../../tests/testing/samples/llm_streams.json", import.meta.url), "utf8"),
);

/** A stream that keeps what is sent. */
function written() {
  const parts = [];
  const read = (event) => {
    const fields = Object.fromEntries(event.split("\n").map((line) => line.split(/: (.*)/s)));
    return [fields.event ?? null, fields.data === "[DONE]" ? fields.data : JSON.parse(fields.data)];
  };
  return {
    send: async (data) => void parts.push(data),
    events: () => Buffer.concat(parts).toString().trim().split("\n\n").map(read),
  };
}

for (const [kind, Answer] of Object.entries({
  chat: ChatCompletion,
  response: ModelResponse,
  message: AnthropicMessage,
})) {
  test(`${kind}: text, two calls of tools, the end and an error are those of Python`, async () => {
    const stream = written();
    const answer = new Answer(stream, { model: "m" });
    await answer.text("Hel");
    await answer.text("lo");
    await answer.toolCall("weather", { city: "Oslo" });
    await answer.toolCall("time", {}, { callId: "call_2" });
    await answer.finish(kind === "message" ? { outputTokens: 7 } : { inputTokens: 3, outputTokens: 4 });
    await new Answer(stream, { model: "m" }).error("too busy");
    const events = stream.events().map(([name, data]) => [name, spaced(data)]);
    assert.deepEqual(events, SAMPLES[kind]);
  });
}

/** Python's JSON within JSON has spaces. */
function spaced(data) {
  return JSON.parse(JSON.stringify(data).replaceAll('{\\"city\\":\\"Oslo\\"}', '{\\"city\\": \\"Oslo\\"}'));
}
