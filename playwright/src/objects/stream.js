"use strict";

/** @import { Stream as PublicStream } from "../../index.js" */

const { checked } = require("../arguments/options.js");
const { abortCode, contentOf, jsonLine, serverSentEvent } = require("../arguments/stream-parts.js");

/**
 * An answer whose body a test writes.
 * @implements {PublicStream}
 */
class Stream {
  #awaited;

  /** @param {import("../session/written-stream.js").AwaitedStream} awaited */
  constructor(awaited) {
    this.#awaited = awaited;
  }

  async request() {
    const { session, request } = await this.#awaited.wait();
    return session.views.request(request);
  }

  /** @param {string | Uint8Array} data */
  async send(data) {
    await this.#write(contentOf(data));
  }

  /** @param {import("../../index.js").ServerSentEvent} event */
  async sse(event) {
    await this.#write(serverSentEvent(checked("stream.sse", event)));
  }

  /** @param {unknown} value */
  async jsonLine(value) {
    await this.#write(jsonLine(value));
  }

  async end() {
    await (await this.#awaited.wait()).end();
  }

  /** @param {string} [errorCode] */
  async abort(errorCode = "connectionreset") {
    const code = abortCode(errorCode);
    await (await this.#awaited.wait()).abort(code);
  }

  /** @param {Buffer} content */
  async #write(content) {
    await (await this.#awaited.wait()).send(content);
  }
}

module.exports = { Stream };
