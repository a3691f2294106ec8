"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const headers = require("../protocol/headers.js");
const { BodyCopy } = require("./body-copy.js");
const { decodeThen, decode, decodedPairs } = require("./coding.js");
const { serializeError } = require("../protocol/errors.js");
const { UNFRAMED_STATUSES } = require("../protocol/facts.js");
const { responseToWire } = require("../protocol/messages.js");
const { isRedirect } = require("./redirects.js");

/**
 * @param {string} method of the request
 * @param {number} status
 * @returns {boolean} whether the response ends with its head, whatever its headers say (RFC 9112 6.3)
 */
const isBodiless = (method, status) => method === "HEAD" || UNFRAMED_STATUSES.includes(status);

/** The time after which the head of an incomplete response is reported to the history; ms. */
const HEAD_MS = 50;

/**
 * Reports the upstream's response to the proxy, while the application's client
 * delivers it. It is sent once: at the end, at a failure, or when the next hop of a
 * redirect begins. A slow response is reported before, by its head alone.
 */
class Report {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {{ id: string, reporter: { send(message: object, links: number): void }, isReported: boolean }} exchange
   * @param {string} url that the request was sent to
   * @param {import('./upload.js').Upload} [upload] the request's body, which is reported before the response
   */
  constructor(agent, { id, reporter, isReported }, url, upload) {
    this.agent = agent;
    this.links = agent.links;
    this.id = id;
    this.reporter = reporter;
    this.url = url;
    this.upload = upload;
    this.copy = new BodyCopy(isReported ? agent.bodyLimits.history : 0);
    /** Whether the end was reported. */
    this.isSaid = !isReported;
    /** @type {NodeJS.Timeout | undefined} */
    this.soon = undefined;
    this.status = 0;
    this.statusText = "";
    /** @type {headers.Pairs} */
    this.pairs = [];
    /** The fields behind the body. @type {headers.Pairs} */
    this.trailers = [];
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
    if (!this.isSaid && !isRedirect(status, pairs)) this.soon = setTimeout(() => this.begin(), HEAD_MS).unref();
  }

  /** Report the head to the history, because the body takes long. */
  begin() {
    if (!this.isSaid) this.say({ response: this.answer(Buffer.alloc(0), false), bodyPending: true });
  }

  /** @param {Uint8Array} chunk of the body, not decoded */
  data(chunk) {
    this.copy.push(chunk);
  }

  /**
   * Report the response: its body is complete.
   * @param {headers.Pairs} [trailers] the fields behind the body
   */
  end(trailers = []) {
    if (!this.settle()) return;
    this.trailers = trailers;
    const coding = headers.get(this.pairs, "content-encoding");
    const raw = this.copy.bytes();
    if (!coding || raw.length === 0) return this.say({ response: this.answer(raw, false) });
    decodeThen(raw, coding, (decoded) => this.say({ response: this.answer(decoded ?? raw, decoded !== undefined) }));
  }

  /** Report an incomplete response: nobody reads further, or the next hop begins. */
  cut() {
    if (this.status === 0 || !this.settle()) return;
    const error = !isRedirect(this.status, this.pairs) && serializeError(givenUp());
    this.say({ response: this.part(), ...(error && { error }) });
  }

  /** @param {unknown} error why there is no response, or why it is incomplete */
  fail(error) {
    if (!this.settle()) return;
    const response = this.status > 0 ? this.part() : undefined;
    this.say({ ok: false, error: serializeError(error), ...(response && { response }) });
  }

  /**
   * Report that a fault of the test broke the response off.
   * @param {string} kind of the fault
   */
  broken(kind) {
    if (!this.settle()) return;
    const message = `the fault ${kind} of the test, after ${this.copy.size} bytes of the body`;
    const response = this.status > 0 ? this.part() : undefined;
    this.say({ ok: false, error: { name: "Error", message, code: "fault" }, ...(response && { response }) });
  }

  /** @returns {boolean} whether the end was not reported before */
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

  /** @returns {object} the part of the response that has come, for the wire */
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
    const { status, statusText, url, trailers } = this;
    const pairs = isDecoded
      ? decodedPairs(this.pairs, isCut ? undefined : body)
      : headers.without(this.pairs, "transfer-encoding");
    const isLong = body.length > this.copy.limit;
    const size = isCut ? this.copy.size : body.length;
    const kept = isLong ? body.subarray(0, this.copy.limit) : body;
    return responseToWire({ status, statusText, pairs, body: kept, url, trailers }, isCut || isLong ? size : undefined);
  }
}

const givenUp = () =>
  Object.assign(new Error("The application gave the request up"), { name: "AbortError", code: "ABORT_ERR" });

module.exports = { Report, givenUp, isBodiless };
