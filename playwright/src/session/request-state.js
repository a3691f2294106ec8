"use strict";

const { UsageError } = require("../errors.js");
const headers = require("../arguments/headers.js");

/**
 * @typedef {import("../arguments/request-overrides.js").Overrides} Overrides
 * @typedef {import("./response-state.js").ResponseState} ResponseState
 *
 * @typedef {object} WireRequest a request in a message (protocol 3 `SerializedRequest`)
 * @property {string} url
 * @property {string} method
 * @property {Record<string, string>} headers
 * @property {[string, string][]} [headersList]
 * @property {string | null} bodyBase64
 * @property {boolean} [truncated] whether the body is longer than `bodyBase64`
 */

/** One request of the application and its response, as far as this process knows them. */
class RequestState {
  /**
   * @param {{ id: string, clientId: string, wire: WireRequest, shownUrl?: string, sequence: number, current?: WireRequest,
   *   overrides?: Overrides }} known `sequence` is its number among the requests that the test observed
   */
  constructor({ id, clientId, wire, shownUrl = wire.url, sequence, current = wire, overrides = {} }) {
    this.id = id;
    this.clientId = clientId;
    this.wire = wire;
    /** The URL for texts, with marks in place of secrets. */
    this.shownUrl = shownUrl;
    this.sequence = sequence;
    /** The request with the changes of earlier handlers. */
    this.current = current;
    /** @type {Overrides} the changes of the handler that runs, or ran last */
    this.overrides = overrides;
    /** @type {RequestState | null} */
    this.redirectedFrom = null;
    /** @type {RequestState | null} */
    this.redirectedTo = null;
    /** @type {ResponseState | null | undefined} `null` when there will be none, `undefined` while that is open */
    this.response = undefined;
    /** @type {Promise<ResponseState | null>} */
    this.answered = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // A test that does not await the response must not get an unhandled rejection.
    this.answered.catch(() => {});
    /** @type {any} the test's object for this request */
    this.view = undefined;
  }

  get url() {
    return this.overrides.url ?? this.current.url;
  }

  get method() {
    return this.overrides.method ?? this.current.method;
  }

  /** The headers, with the changes so far. */
  get pairs() {
    return this.overrides.pairs ?? headers.read(this.current);
  }

  /**
   * @returns {Buffer} the body, with the changes so far
   * @throws {UsageError} the proxy did not keep the whole body: it must not seem to be empty
   */
  get body() {
    if (this.overrides.body) return this.overrides.body;
    if (this.current.truncated) {
      throw new UsageError(
        `the proxy did not keep the body of ${this} whole: no test owned the request, so it was passed on as it ` +
          "came, and it was not all sent or is longer than --history-body-bytes",
      );
    }
    return Buffer.from(this.current.bodyBase64 ?? "", "base64");
  }

  /** Whether there is a body; a handler may have emptied it, which is not the same (Playwright's rule). */
  get hasBody() {
    const isEmptied = this.current.bodyBase64 === null && this.wire.bodyBase64 !== null;
    return this.body.length > 0 || this.overrides.body !== undefined || isEmptied;
  }

  /**
   * @param {WireRequest} current the request with the changes of earlier handlers, for the next one
   * @param {string} [shownUrl]
   */
  pass(current, shownUrl = current.url) {
    this.current = current;
    this.shownUrl = shownUrl;
    this.overrides = {};
  }

  /**
   * Make a copy with other changes, for a handler's fetch; it has a response of its own.
   * @param {Overrides} overrides
   */
  withOverrides(overrides) {
    return new RequestState({ ...this, overrides });
  }

  /**
   * Set the response.
   * @param {ResponseState | null} response
   * @returns {boolean} whether there was none before
   */
  answer(response) {
    if (this.response !== undefined) return false;
    this.response = response;
    this.resolve?.(response);
    return true;
  }

  toString() {
    return `${this.method} ${this.shownUrl}`;
  }
}

module.exports = { RequestState };
