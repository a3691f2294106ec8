"use strict";

/** @import { Response as PublicResponse } from "../../index.js" */

const { UsageError } = require("../errors.js");
const headers = require("../arguments/headers.js");

/** @typedef {import("../session/response-state.js").ResponseState} ResponseState */

/** @type {WeakMap<object, ResponseState>} */
const states = new WeakMap();

/**
 * A response to the application or to `route.fetch()`, as tests get it (Playwright's `Response` and `APIResponse`).
 * @implements {PublicResponse}
 */
class Response {
  #state;
  #session;

  /**
   * @param {ResponseState} state
   * @param {import("../session/session.js").Session} session
   */
  constructor(state, session) {
    this.#state = state;
    this.#session = session;
    states.set(this, state);
  }

  ok() {
    return this.status() >= 200 && this.status() <= 299;
  }

  url() {
    return this.#state.url;
  }

  status() {
    return this.#state.wire.status;
  }

  statusText() {
    return this.#state.wire.statusText;
  }

  headers() {
    return headers.toObject(this.#state.pairs);
  }

  async allHeaders() {
    return this.headers();
  }

  headersArray() {
    return this.#state.pairs.map(([name, value]) => ({ name, value }));
  }

  /** @param {string} name */
  headerValue(name) {
    return headers.get(this.#state.pairs, name) ?? null;
  }

  /** @param {string} name */
  headerValues(name) {
    const key = name.toLowerCase();
    return this.#state.pairs.filter(([each]) => each === key).map(([, value]) => value);
  }

  fromServiceWorker() {
    return false;
  }

  /** @returns {never} */
  frame() {
    throw new UsageError("Frame is not available: a server made this request");
  }

  /** The body, without waiting. */
  get bodyBuffer() {
    return this.#state.read();
  }

  async body() {
    return this.#state.read();
  }

  async text() {
    return this.#state.read().toString("utf8");
  }

  async json() {
    return JSON.parse(await this.text());
  }

  request() {
    return this.#session.views.request(this.#state.request);
  }

  async dispose() {
    this.#state.isDisposed = true;
  }
}

/**
 * @param {any} view
 * @returns {ResponseState | undefined}
 */
const stateOf = (view) => states.get(view);

module.exports = { Response, stateOf };
