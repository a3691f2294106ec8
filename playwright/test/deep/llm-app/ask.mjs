/* Asks a model by an SDK, and prints what that gives as it comes, one JSON value per line. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

const [kind, base, retries = "0"] = process.argv.slice(2);
const maxRetries = Number(retries);
const messages = [{ role: "user", content: "?" }];
globalThis.AI_SDK_LOG_WARNINGS = false;
const tell = (...told) => console.log(JSON.stringify(told));

const openai = () => new OpenAI({ baseURL: `${base}/v1`, apiKey: "k", maxRetries });
const anthropic = () => new Anthropic({ baseURL: base, apiKey: "k", maxRetries });

const kinds = {
  async chat() {
    const asked = { model: "m", messages, stream: true, stream_options: { include_usage: true } };
    for await (const { choices, usage } of await openai().chat.completions.create(asked)) {
      for (const { delta, finish_reason } of choices) {
        if (delta.content) tell("text", delta.content);
        for (const { function: called } of delta.tool_calls ?? []) {
          tell("tool", called.name, JSON.parse(called.arguments));
        }
        if (finish_reason) tell("end", finish_reason);
      }
      if (usage) tell("usage", usage.prompt_tokens, usage.completion_tokens);
    }
  },

  async response() {
    const stream = openai().responses.stream({ model: "m", input: "?" });
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") tell("text", event.delta);
      if (event.type === "response.output_item.done" && event.item.type === "function_call") {
        tell("tool", event.item.name, JSON.parse(event.item.arguments));
      }
    }
    const { output_text, usage } = await stream.finalResponse();
    tell("end", output_text);
    tell("usage", usage.input_tokens, usage.output_tokens);
  },

  async message() {
    const stream = anthropic().messages.stream({ model: "m", max_tokens: 9, messages });
    stream.on("text", (text) => tell("text", text));
    stream.on("contentBlock", ({ type, name, input }) => type === "tool_use" && tell("tool", name, input));
    const { stop_reason, usage } = await stream.finalMessage();
    tell("end", stop_reason);
    tell("usage", usage.input_tokens, usage.output_tokens);
  },

  "ai chat": () => generate(createOpenAI({ baseURL: `${base}/v1`, apiKey: "k" }).chat("m")),
  "ai response": () => generate(createOpenAI({ baseURL: `${base}/v1`, apiKey: "k" }).responses("m")),
  "ai message": () => generate(createAnthropic({ baseURL: `${base}/v1`, apiKey: "k" })("m")),
};

/** Vercel's SDK: one stream of parts for all providers. */
async function generate(model) {
  const inputSchema = jsonSchema({ type: "object", properties: { city: { type: "string" } } });
  const tools = { weather: tool({ description: "the weather", inputSchema }) };
  const { fullStream } = streamText({ model, messages, tools, maxRetries, onError() {} });
  for await (const part of fullStream) {
    if (part.type === "text-delta") tell("text", part.text);
    if (part.type === "tool-call") tell("tool", part.toolName, part.input);
    if (part.type === "error") throw part.error;
    if (part.type === "finish") {
      tell("end", part.finishReason);
      tell("usage", part.totalUsage.inputTokens, part.totalUsage.outputTokens);
    }
  }
}

try {
  await kinds[kind]();
} catch (error) {
  tell("error", error.constructor.name, error.message ?? JSON.stringify(error));
}
