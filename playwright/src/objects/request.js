"use strict";

/** @import { Request as PublicRequest } from "../../index.js" */

const { UsageError } = require("../errors.js");
const headers = require("../arguments/headers.js");

/** @typedef {import("../session/request-state.js").RequestState} RequestState */

/** Playwright's timing with placeholders: the phases of a server's request are not measured. */
const NO_TIMING = {
  startTime: 0,
  domainLookupStart: -1,
  domainLookupEnd: -1,
  connectStart: -1,
  secureConnectionStart: -1,
  connectEnd: -1,
  requestStart: -1,
  responseStart: -1,
  responseEnd: -1,
};

/**
 * A request of the application, as tests get it (Playwright's `Request`).
 * @implements {PublicRequest}
 */
class Request {
  #state;
  #session;

  /**
   * @param {RequestState} state
   * @param {import("../session/session.js").Session} session
   */
  constructor(state, session) {
    this.#state = state;
    this.#session = session;
  }

  get clientId() {
    return this.#state.clientId;
  }

  url() {
    return this.#state.url;
  }

  method() {
    return this.#state.method;
  }

  headers() {
    return headers.toObject(this.#state.pairs);
  }

  async allHeaders() {
    return this.headers();
  }

  async headersArray() {
    return this.#state.pairs.map(([name, value]) => ({ name, value }));
  }

  /** @param {string} name */
  async headerValue(name) {
    return headers.get(this.#state.pairs, name) ?? null;
  }

  postData() {
    return this.postDataBuffer()?.toString("utf8") ?? null;
  }

  postDataBuffer() {
    return this.#state.hasBody ? this.#state.body : null;
  }

  postDataJSON() {
    const text = this.postData();
    if (!text) return null;
    const type = headers.get(this.#state.pairs, "content-type") ?? "";
    if (type.includes("application/x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(text));
    try {
      return JSON.parse(text);
    } catch {
      throw new UsageError(`POST data is not a valid JSON object: ${text}`);
    }
  }

  resourceType() {
    return /** @type {const} */ ("other");
  }

  /** @returns {never} */
  frame() {
    throw new UsageError("Frame is not available: a server made this request");
  }

  serviceWorker() {
    return null;
  }

  isNavigationRequest() {
    return false;
  }

  redirectedFrom() {
    const { redirectedFrom } = this.#state;
    return redirectedFrom && this.#session.views.request(redirectedFrom);
  }

  redirectedTo() {
    const { redirectedTo } = this.#state;
    return redirectedTo && this.#session.views.request(redirectedTo);
  }

  failure() {
    return null;
  }

  timing() {
    return { ...NO_TIMING };
  }

  async sizes() {
    const response = this.#state.response;
    return {
      requestBodySize: this.#state.body.length,
      requestHeadersSize: -1,
      responseBodySize: response ? response.read().length : 0,
      responseHeadersSize: -1,
    };
  }

  async response() {
    const response = await this.#state.answered;
    return response && this.#session.views.response(response);
  }

  existingResponse() {
    const { response } = this.#state;
    return response ? this.#session.views.response(response) : null;
  }
}

module.exports = { Request };
