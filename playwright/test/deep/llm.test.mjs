/* The streamed answers of language models, read by the SDKs of their services in a Node application, token by token. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "../../core.mjs";
import { AnthropicMessage, ChatCompletion, EVENT_STREAM, ModelResponse } from "../../llm.mjs";
import { REQUIRE } from "../../../agent/test/lib/child.mjs";
import { startProxy } from "../../../agent/test/lib/proxy.mjs";

const PROGRAM = fileURLToPath(new URL("llm-app/ask.mjs", import.meta.url));
const BASE = "https://llm.test";

/** For each kind of answer: its class, its URL, and what each SDK says of its end. */
const ANSWERS = {
  chat: [ChatCompletion, `${BASE}/v1/chat/completions`],
  response: [ModelResponse, `${BASE}/v1/responses`],
  message: [AnthropicMessage, `${BASE}/v1/messages`],
};

const AI = {
  end: "tool-calls",
  error: ["StreamProviderError", "too busy"],
  broken: ["APICallError", "Failed to process successful response"],
};

/** What each SDK makes of an answer: the end, an error in the middle, and a connection that breaks. */
const SDKS = {
  chat: { end: "tool_calls", error: ["APIError", "too busy"], broken: ["TypeError", "terminated"] },
  response: { end: "Hello", error: ["APIError", "too busy"], broken: ["OpenAIError", "terminated"] },
  message: {
    end: "tool_use",
    error: ["APIError", '{"type":"error","error":{"type":"overloaded_error","message":"too busy"}}'],
    broken: ["AnthropicError", "terminated"],
  },
  "ai chat": AI,
  "ai response": AI,
  "ai message": AI,
};

describe("the SDKs of language models", () => {
  let proxy;

  before(async () => {
    proxy = await startProxy();
  });

  after(() => proxy.stop());

  const begin = (t) => connect({ title: t.name, proxyUrl: proxy.url, isolation: "off" });

  /** Let an application ask. */
  function ask(t, kind, retries = 0) {
    const env = { ...process.env, NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: proxy.url };
    const stdio = ["ignore", "pipe", "inherit"];
    const program = spawn(process.execPath, [PROGRAM, kind, BASE, String(retries)], { env, stdio });
    t.after(() => program.kill());
    const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
    const next = async () => {
      const { value } = await lines.next();
      return value && JSON.parse(value);
    };
    const rest = async () => {
      const told = [];
      for (let line; (line = await next());) told.push(line);
      return told;
    };
    return { next, rest };
  }

  for (const [kind, sdk] of Object.entries(SDKS)) {
    const [Answer, url] = ANSWERS[kind.split(" ").at(-1)];

    test(`${kind}: each token is there before the next, then a tool, the end and the usage`, async (t) => {
      const mocks = await begin(t);
      const stream = await mocks.stream(url, { contentType: EVENT_STREAM });
      const told = ask(t, kind);
      const answer = new Answer(stream, { inputTokens: 3 });
      for (const token of ["Hel", "lo"]) {
        await answer.text(token);
        assert.deepEqual(await told.next(), ["text", token]);
      }
      await answer.toolCall("weather", { city: "Oslo" });
      await answer.finish({ inputTokens: 3, outputTokens: 4 });
      await stream.end();
      assert.deepEqual(await told.rest(), [
        ["tool", "weather", { city: "Oslo" }],
        ["end", sdk.end],
        ["usage", 3, 4],
      ]);
      await mocks.end();
    });

    test(`${kind}: an error in the middle is the SDK's own`, async (t) => {
      const mocks = await begin(t);
      const stream = await mocks.stream(url, { contentType: EVENT_STREAM });
      const told = ask(t, kind);
      const answer = new Answer(stream);
      await answer.text("Hel");
      assert.deepEqual(await told.next(), ["text", "Hel"]);
      await answer.error("too busy");
      await stream.end();
      assert.deepEqual(await told.rest(), [["error", ...sdk.error]]);
      await mocks.end();
    });

    test(`${kind}: a connection that breaks in the middle is the SDK's own error`, async (t) => {
      const mocks = await begin(t);
      const stream = await mocks.stream(url, { contentType: EVENT_STREAM });
      const told = ask(t, kind);
      await new Answer(stream).text("Hel");
      assert.deepEqual(await told.next(), ["text", "Hel"]);
      await stream.abort();
      assert.deepEqual(await told.rest(), [["error", ...sdk.broken]]);
      await mocks.end();
    });

    test(`${kind}: the SDK tries again after 429 and a reset connection`, async (t) => {
      const mocks = await begin(t);
      const slow = { status: 429, headers: { "retry-after-ms": "1" }, json: { error: { message: "slow down" } } };
      const stream = await mocks.stream(url, { contentType: EVENT_STREAM });
      await mocks.mock(url, { sequence: [slow, { fault: "connection_reset" }], times: 2 });
      const told = ask(t, kind, 2);
      const answer = new Answer(stream);
      await answer.text("Hel");
      assert.deepEqual(await told.next(), ["text", "Hel"]);
      await answer.finish();
      await stream.end();
      await told.rest();
      await mocks.end();
    });
  }
});
