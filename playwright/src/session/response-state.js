"use strict";

const { REDIRECTS } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");
const headers = require("../arguments/headers.js");

/**
 * A response in a message (protocol 3 `SerializedResponse`).
 *
 * @typedef {object} WireResponse
 * @property {number} status
 * @property {string} statusText
 * @property {Record<string, string>} headers
 * @property {[string, string][]} [headersList]
 * @property {string | null} bodyBase64
 * @property {string} [url]
 * @property {[number, number][]} [pieces] of a fetched response: the milliseconds from the head to each piece, and its bytes
 * @property {boolean} [truncated] whether the body is longer than `bodyBase64`
 */

/** One response with its body. */
class ResponseState {
  /**
   * @param {import("./request-state.js").RequestState} request
   * @param {WireResponse} wire
   */
  constructor(request, wire) {
    this.request = request;
    this.wire = wire;
    this.isDisposed = false;
    /** @type {any} the test's object for this response */
    this.view = undefined;
  }

  /** The URL of the response; that of the request if the message has none. */
  get url() {
    return this.wire.url || this.request.url;
  }

  /** All headers, names in lower case. */
  get pairs() {
    return headers.read(this.wire);
  }

  /**
   * The absolute URL that a redirect leads to, without its fragment; `undefined` for other responses.
   * @returns {string | undefined}
   */
  get redirectUrl() {
    const location = headers.get(this.pairs, "location");
    if (!REDIRECTS.includes(this.wire.status) || location === undefined) return undefined;
    return URL.canParse(location, this.url) ? new URL(location, this.url).href.split("#")[0] : undefined;
  }

  /**
   * @returns {Buffer} the decoded body
   * @throws {UsageError} the response was disposed, or the proxy did not keep the whole body
   */
  read() {
    if (this.isDisposed) throw new UsageError("Response has been disposed");
    if (this.wire.truncated) {
      throw new UsageError(
        `the proxy did not keep the body of ${this.request.shownUrl} whole: the application read no further, ` +
          "or it is longer than --history-body-bytes",
      );
    }
    return Buffer.from(this.wire.bodyBase64 ?? "", "base64");
  }
}

module.exports = { ResponseState };
