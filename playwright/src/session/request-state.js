"use strict";

const { UsageError } = require("../errors.js");
const headers = require("../arguments/headers.js");

/**
 * @typedef {import("../arguments/request-overrides.js").Overrides} Overrides
 * @typedef {import("./response-state.js").ResponseState} ResponseState
 *
 * @typedef {object} WireRequest as it travels (protocol 3 `SerializedRequest`)
 * @property {string} url
 * @property {string} method
 * @property {Record<string, string>} headers
 * @property {[string, string][]} [headersList]
 * @property {string | null} bodyBase64
 * @property {boolean} [truncated] whether the body is longer than what is here
 */

/** One request of the application from its arrival on, and its response as far as it is known. */
class RequestState {
  /**
   * @param {{ id: string, clientId: string, wire: WireRequest, sequence: number, seenAt?: number, overrides?: Overrides
   *   }} known `sequence` is its place among all that the test saw; `seenAt` tells when the proxy took note of it, by
   *   the proxy's clock
   */
  constructor({ id, clientId, wire, sequence, seenAt, overrides = {} }) {
    this.id = id;
    this.clientId = clientId;
    this.wire = wire;
    this.sequence = sequence;
    this.seenAt = seenAt;
    /** @type {Overrides} what handlers changed so far */
    this.overrides = overrides;
    /** @type {RequestState | null} */
    this.redirectedFrom = null;
    /** @type {RequestState | null} */
    this.redirectedTo = null;
    /** @type {ResponseState | null | undefined} `null` when there will be none, `undefined` while nobody knows */
    this.response = undefined;
    /** @type {Promise<ResponseState | null>} */
    this.answered = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Who does not ask is not to be told.
    this.answered.catch(() => {});
    /** @type {any} what tests see of it */
    this.view = undefined;
  }

  get url() {
    return this.overrides.url ?? this.wire.url;
  }

  get method() {
    return this.overrides.method ?? this.wire.method;
  }

  /** The headers that the application sent. */
  get originalPairs() {
    return headers.read(this.wire);
  }

  /** The headers, as changed so far. */
  get pairs() {
    return this.overrides.pairs ?? this.originalPairs;
  }

  /**
   * @returns {Buffer} the body, as changed so far
   * @throws {UsageError} the proxy did not keep all of it: what is not there must not pass for empty
   */
  get body() {
    if (this.overrides.body) return this.overrides.body;
    if (this.wire.truncated) {
      throw new UsageError(
        `the proxy did not keep the body of ${this} whole: no test owned the request, so it was passed on as it ` +
          "came, and it was not all sent or is longer than --history-body-bytes",
      );
    }
    return Buffer.from(this.wire.bodyBase64 ?? "", "base64");
  }

  /**
   * Make the request that a handler's fetch sends; it has a life of its own.
   * @param {Overrides} overrides
   */
  withOverrides(overrides) {
    return new RequestState({ ...this, overrides });
  }

  /**
   * Settle it.
   * @param {ResponseState | null} response
   * @returns {boolean} whether this was the first time
   */
  answer(response) {
    if (this.response !== undefined) return false;
    this.response = response;
    this.resolve?.(response);
    return true;
  }

  toString() {
    return `${this.method} ${this.url}`;
  }
}

module.exports = { RequestState };
