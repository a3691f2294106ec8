"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const headers = require("./headers.js");
const { decodeThen, decode } = require("./coding.js");
const { serializeError } = require("./errors.js");
const { responseToWire } = require("./wire.js");
const { isRedirect } = require("./redirects.js");

/** How much of a response is copied for the history; bytes as they came. */
const COPY_BYTES = 8 * 1024 * 1024;

/**
 * An upstream's answer with its decoded body.
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} statusText
 * @property {headers.Pairs} pairs
 * @property {Buffer} body
 * @property {string} url
 */

/**
 * @param {string} method of the request
 * @param {number} status
 * @returns {boolean} whether the response ends with its head, whatever its headers say (RFC 9112 6.3)
 */
const isBodiless = (method, status) => method === "HEAD" || status === 204 || status === 304;

/** How long a response may take before the history is shown its head; ms. */
const HEAD_MS = 50;

/** Bytes that pass by, kept up to a limit. */
class Copy {
  /** @param {number} limit in bytes */
  constructor(limit) {
    this.limit = limit;
    /** @type {Buffer[]} */
    this.chunks = [];
    this.kept = 0;
    this.size = 0;
  }

  /** @param {Uint8Array} chunk */
  push(chunk) {
    this.size += chunk.length;
    const room = this.limit - this.kept;
    if (room <= 0) return;
    // Copied because clients reuse or hand on the memory they read into.
    const piece = Buffer.from(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.kept += piece.length;
    this.chunks.push(piece);
  }

  /** @param {number} limit in bytes; what is beyond it is dropped */
  limitTo(limit) {
    this.limit = limit;
    if (this.kept <= limit) return;
    this.chunks = [Buffer.from(this.bytes().subarray(0, limit))];
    this.kept = limit;
  }

  get isCut() {
    return this.size > this.kept;
  }

  bytes() {
    return this.chunks.length === 1 ? this.chunks[0] : Buffer.concat(this.chunks);
  }
}

/**
 * Tells the proxy what the upstream answered, while the application gets it
 * from its own client. Said once: at the end, at the failure, or when the next
 * hop of a redirect begins.
 */
class Report {
  /**
   * @param {import('./agent.js').Agent} agent
   * @param {string} id of the request
   * @param {string} url that was asked
   * @param {import('./upload.js').Upload} [upload] of which the proxy must have heard before the answer
   */
  constructor(agent, id, url, upload) {
    this.agent = agent;
    this.links = agent.links;
    this.id = id;
    this.url = url;
    this.upload = upload;
    this.copy = new Copy(agent.bodyLimits?.history ?? COPY_BYTES);
    this.isSaid = false;
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
    if (this.agent.streams && !isRedirect(status, pairs)) this.soon = setTimeout(() => this.begin(), HEAD_MS).unref();
  }

  /** The body goes on for a while: the history is shown the head. */
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

  /** Nobody reads further: what is there must do, and at once, before the next hop's news. */
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
    this.agent.send({ type: "request:response", requestId: this.id, ok: true, ...news }, this.links);
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

/**
 * Headers that fit a decoded body.
 * @param {headers.Pairs} pairs
 * @param {Buffer} [body] without it the length is left out
 * @returns {headers.Pairs}
 */
function decodedPairs(pairs, body) {
  const rest = headers.without(pairs, "content-encoding", "transfer-encoding");
  if (!body) return headers.without(rest, "content-length");
  return headers.get(rest, "content-length") ? headers.set(rest, "content-length", String(body.length)) : rest;
}

module.exports = { Report, Copy, decodedPairs, givenUp, isBodiless };
