"use strict";

const { serverSentEvent } = require("./arguments/stream-parts.js");

/**
 * Streamed answers of language models, on the wire of OpenAI and Anthropic. Each class writes to a stream of a test. It is no
 * emulator: the test says each part, and the request is not read.
 */

/** The content type of these answers. */
const EVENT_STREAM = "text/event-stream";

/** The parent of the answers: numbers its parts, and sends several events as one part. */
class Answer {
  /**
   * @param {{ send(data: Uint8Array): Promise<void> }} stream
   * @param {{ model?: string }} [options]
   */
  constructor(stream, { model = "mocked-model" } = {}) {
    this.stream = stream;
    this.model = model;
    /** @type {Buffer[]} */
    this.events = [];
    /** @type {any[]} */
    this.parts = [];
  }

  /**
   * @param {unknown} json
   * @param {string} [event]
   */
  add(json, event) {
    this.events.push(serverSentEvent({ json, event }));
  }

  send() {
    const content = Buffer.concat(this.events);
    this.events = [];
    return this.stream.send(content);
  }
}

/** A chat completion of OpenAI, and of the many services with the same wire. */
class ChatCompletion extends Answer {
  /** @param {string} text */
  text(text) {
    this.delta({ content: text });
    return this.send();
  }

  /**
   * @param {string} name
   * @param {unknown} args
   * @param {{ callId?: string }} [options]
   */
  toolCall(name, args, { callId = "call_1" } = {}) {
    const index = this.parts.filter(({ tool }) => tool).length;
    const called = { name, arguments: JSON.stringify(args) };
    this.delta({ tool_calls: [{ index, id: callId, type: "function", function: called }] });
    this.parts.push({ tool: name });
    return this.send();
  }

  /** @param {{ inputTokens?: number, outputTokens?: number }} [usage] */
  finish({ inputTokens, outputTokens = 0 } = {}) {
    const called = this.parts.some(({ tool }) => tool);
    this.add(this.chunk([choice({}, called ? "tool_calls" : "stop")]));
    if (inputTokens !== undefined) {
      const total_tokens = inputTokens + outputTokens;
      const usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens };
      this.add({ ...this.chunk([]), usage });
    }
    this.events.push(serverSentEvent({ data: "[DONE]" }));
    return this.send();
  }

  /**
   * @param {string} message
   * @param {{ kind?: string }} [options]
   */
  error(message, { kind = "server_error" } = {}) {
    this.add({ error: { message, type: kind, code: null, param: null } });
    return this.send();
  }

  /** @param {object} delta */
  delta(delta) {
    const role = this.parts.length ? {} : { role: "assistant" };
    if (!this.parts.length) this.parts.push({});
    this.add(this.chunk([choice({ ...role, ...delta }, null)]));
  }

  /** @param {object[]} choices */
  chunk(choices) {
    return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: this.model, choices };
  }
}

/**
 * @param {object} delta
 * @param {string | null} reason
 */
const choice = (delta, reason) => ({ index: 0, delta, logprobs: null, finish_reason: reason });

/** A response of OpenAI's Responses API. */
class ModelResponse extends Answer {
  number = 0;

  /** @param {string} text */
  text(text) {
    this.begin();
    if (this.parts.at(-1)?.item.type !== "message") {
      this.open({ type: "message", role: "assistant", content: [] }, "msg");
      const part = { type: "output_text", text: "", annotations: [] };
      this.ofItem("response.content_part.added", { content_index: 0, part });
    }
    const last = this.parts.at(-1);
    last.text = (last.text ?? "") + text;
    this.ofItem("response.output_text.delta", { content_index: 0, delta: text, logprobs: [] });
    return this.send();
  }

  /**
   * @param {string} name
   * @param {unknown} args
   * @param {{ callId?: string }} [options]
   */
  toolCall(name, args, { callId = "call_1" } = {}) {
    this.begin();
    this.close();
    this.open({ type: "function_call", call_id: callId, name, arguments: "" }, "fc");
    const written = JSON.stringify(args);
    this.ofItem("response.function_call_arguments.delta", { delta: written });
    this.parts.at(-1).arguments = written;
    return this.send();
  }

  /** @param {{ inputTokens?: number, outputTokens?: number }} [usage] */
  finish({ inputTokens = 0, outputTokens = 0 } = {}) {
    this.begin();
    this.close();
    const usage = {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    };
    const output = this.parts.map(({ item }) => item);
    this.event("response.completed", { response: this.response("completed", output, usage) });
    return this.send();
  }

  /**
   * @param {string} message
   * @param {{ code?: string }} [options]
   */
  error(message, { code = "server_error" } = {}) {
    this.begin();
    this.event("error", { code, message, param: null });
    return this.send();
  }

  begin() {
    if (!this.number) this.event("response.created", { response: this.response("in_progress", [], null) });
  }

  /**
   * @param {{ type: string, [key: string]: unknown }} given
   * @param {string} prefix of its id
   */
  open(given, prefix) {
    this.close();
    const item = { id: `${prefix}_${this.parts.length + 1}`, ...given, status: "in_progress" };
    this.parts.push({ item });
    this.event("response.output_item.added", { output_index: this.parts.length - 1, item });
  }

  /** Complete the item that is open. */
  close() {
    const last = this.parts.at(-1);
    if (!last || last.item.status === "completed") return;
    let content;
    if (last.item.type === "message") {
      const text = last.text ?? "";
      const part = { type: "output_text", text, annotations: [] };
      this.ofItem("response.output_text.done", { content_index: 0, text, logprobs: [] });
      this.ofItem("response.content_part.done", { content_index: 0, part });
      content = { content: [part] };
    } else {
      content = { arguments: last.arguments };
      this.ofItem("response.function_call_arguments.done", content);
    }
    last.item = { ...last.item, ...content, status: "completed" };
    this.event("response.output_item.done", { output_index: this.parts.length - 1, item: last.item });
  }

  /**
   * @param {string} kind
   * @param {object} fields
   */
  ofItem(kind, fields) {
    this.event(kind, { item_id: this.parts.at(-1).item.id, output_index: this.parts.length - 1, ...fields });
  }

  /**
   * @param {string} kind
   * @param {object} fields
   */
  event(kind, fields) {
    this.add({ type: kind, sequence_number: this.number++, ...fields }, kind);
  }

  /**
   * @param {string} status
   * @param {object[]} output
   * @param {object | null} usage
   */
  response(status, output, usage) {
    return {
      ...{ id: "resp_1", object: "response", created_at: 0, status, error: null, incomplete_details: null },
      ...{ instructions: null, metadata: {}, model: this.model, output, parallel_tool_calls: true },
      ...{ tool_choice: "auto", tools: [], usage },
    };
  }
}

/** A message of Anthropic. */
class AnthropicMessage extends Answer {
  /**
   * @param {{ send(data: Uint8Array): Promise<void> }} stream
   * @param {{ model?: string, inputTokens?: number }} [options]
   */
  constructor(stream, { inputTokens = 0, ...options } = {}) {
    super(stream, options);
    this.inputTokens = inputTokens;
    this.hasBegun = false;
  }

  /** @param {string} text */
  text(text) {
    if (this.parts.at(-1)?.type !== "text") this.open({ type: "text", text: "" });
    this.delta({ type: "text_delta", text });
    return this.send();
  }

  /**
   * @param {string} name
   * @param {unknown} args
   * @param {{ callId?: string }} [options]
   */
  toolCall(name, args, { callId = "toolu_1" } = {}) {
    this.open({ type: "tool_use", id: callId, name, input: {} });
    this.delta({ type: "input_json_delta", partial_json: JSON.stringify(args) });
    return this.send();
  }

  /** @param {{ outputTokens?: number }} [usage] */
  finish({ outputTokens = 0 } = {}) {
    this.begin();
    this.close();
    const called = this.parts.some(({ type }) => type === "tool_use");
    const delta = { stop_reason: called ? "tool_use" : "end_turn", stop_sequence: null };
    this.event("message_delta", { delta, usage: { output_tokens: outputTokens } });
    this.event("message_stop");
    return this.send();
  }

  /**
   * @param {string} message
   * @param {{ kind?: string }} [options]
   */
  error(message, { kind = "overloaded_error" } = {}) {
    this.begin();
    this.event("error", { error: { type: kind, message } });
    return this.send();
  }

  begin() {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const message = {
      ...{ id: "msg_1", type: "message", role: "assistant", model: this.model, content: [], stop_reason: null },
      ...{ stop_sequence: null, usage: { input_tokens: this.inputTokens, output_tokens: 0 } },
    };
    this.event("message_start", { message });
  }

  /** @param {{ type: string, [key: string]: unknown }} block */
  open(block) {
    this.begin();
    this.close();
    this.parts.push(block);
    this.event("content_block_start", { index: this.parts.length - 1, content_block: block });
  }

  close() {
    if (this.parts.length) this.event("content_block_stop", { index: this.parts.length - 1 });
  }

  /** @param {object} delta */
  delta(delta) {
    this.event("content_block_delta", { index: this.parts.length - 1, delta });
  }

  /**
   * @param {string} kind
   * @param {object} [fields]
   */
  event(kind, fields) {
    this.add({ type: kind, ...fields }, kind);
  }
}

module.exports = { ChatCompletion, EVENT_STREAM, AnthropicMessage, ModelResponse };
