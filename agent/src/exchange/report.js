"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const headers = require("../protocol/headers.js");
const { BodyCopy } = require("./body-copy.js");
const { decodeThen, decode, decodedPairs } = require("./coding.js");
const { HISTORY_BODY_BYTES } = require("../protocol/constants.js");
const { serializeError } = require("../protocol/errors.js");
const { responseToWire } = require("../protocol/messages.js");
const { isRedirect } = require("./redirects.js");

/**
 * @param {string} method of the request
 * @param {number} status
 * @returns {boolean} whether the response ends with its head, whatever its headers say (RFC 9112 6.3)
 */
const isBodiless = (method, status) => method === "HEAD" || status === 204 || status === 304;

/** How long a response may take before the history is shown its head; ms. */
const HEAD_MS = 50;

/**
 * Tells the proxy what the upstream answered, while the application gets it
 * from its own client. Said once: at the end, at the failure, or when the next
 * hop of a redirect begins.
 */
class Report {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {{ id: string, reporter: { send(message: object, links: number): void }, isReported: boolean }} exchange
   * @param {string} url that was asked
   * @param {import('./upload.js').Upload} [upload] of which the proxy must have heard before the answer
   */
  constructor(agent, { id, reporter, isReported }, url, upload) {
    this.agent = agent;
    this.links = agent.links;
    this.id = id;
    this.reporter = reporter;
    this.url = url;
    this.upload = upload;
    this.copy = new BodyCopy(isReported ? (agent.bodyLimits?.history ?? HISTORY_BODY_BYTES) : 0);
    /** Whether the end was reported. */
    this.isSaid = !isReported;
    /** @type {NodeJS.Timeout | undefined} */
    this.soon = undefined;
    this.status = 0;
    this.statusText = "";
    /** @type {headers.Pairs} */
    this.pairs = [];
  }

  /**
   * @param {number} status
   * @param {string} statusText
   * @param {headers.Pairs} pairs
   */
  head(status, statusText, pairs) {
    this.status = status;
    this.statusText = statusText;
    this.pairs = pairs;
    if (!this.isSaid && this.agent.streams && !isRedirect(status, pairs)) {
      this.soon = setTimeout(() => this.begin(), HEAD_MS).unref();
    }
  }

  /** The body takes long: report the head to the history. */
  begin() {
    if (!this.isSaid) this.say({ response: this.answer(Buffer.alloc(0), false), bodyPending: true });
  }

  /** @param {Uint8Array} chunk as it came, not decoded */
  data(chunk) {
    this.copy.push(chunk);
  }

  /** The body is whole. */
  end() {
    if (!this.settle()) return;
    const coding = headers.get(this.pairs, "content-encoding");
    const raw = this.copy.bytes();
    if (!coding || raw.length === 0) return this.say({ response: this.answer(raw, false) });
    decodeThen(raw, coding, (decoded) => this.say({ response: this.answer(decoded ?? raw, decoded !== undefined) }));
  }

  /** Nobody reads further: report what there is, before the next hop is reported. */
  cut() {
    if (this.status === 0 || !this.settle()) return;
    const error = this.agent.streams && !isRedirect(this.status, this.pairs) && serializeError(givenUp());
    this.say({ response: this.part(), ...(error && { error }) });
  }

  /** @param {unknown} error why there is no response, or no more of it */
  fail(error) {
    if (!this.settle()) return;
    const response = this.status > 0 && this.agent.streams ? this.part() : undefined;
    this.say({ ok: false, error: serializeError(error), ...(response && { response }) });
  }

  /** @returns {boolean} whether the last word is not said yet */
  settle() {
    const isFirst = !this.isSaid;
    this.isSaid = true;
    clearTimeout(this.soon);
    if (isFirst) this.upload?.tell(this.id);
    return isFirst;
  }

  /** @param {object} news */
  say(news) {
    this.reporter.send({ type: "request:response", requestId: this.id, ok: true, ...news }, this.links);
  }

  /** @returns {object} as much of the answer as came */
  part() {
    const raw = this.copy.bytes();
    const decoded = raw.length ? decode(raw, headers.get(this.pairs, "content-encoding")) : raw;
    return this.answer(decoded ?? raw, decoded !== undefined, true);
  }

  /**
   * @param {Buffer} body
   * @param {boolean} isDecoded
   * @param {boolean} [isCut]
   * @returns {object} for the wire
   */
  answer(body, isDecoded, isCut = this.copy.isCut) {
    const { status, statusText, url } = this;
    const pairs = isDecoded
      ? decodedPairs(this.pairs, isCut ? undefined : body)
      : headers.without(this.pairs, "transfer-encoding");
    const isLong = this.agent.streams && body.length > this.copy.limit;
    const size = isCut ? this.copy.size : body.length;
    const kept = isLong ? body.subarray(0, this.copy.limit) : body;
    return responseToWire(
      this.agent,
      { status, statusText, pairs, body: kept, url },
      isCut || isLong ? size : undefined,
    );
  }
}

const givenUp = () =>
  Object.assign(new Error("The application gave the request up"), { name: "AbortError", code: "ABORT_ERR" });

module.exports = { Report, givenUp, isBodiless };
