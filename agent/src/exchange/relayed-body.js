"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { BODILESS_STATUSES } = require("../protocol/facts.js");
const headers = require("../protocol/headers.js");
const { networkError } = require("../protocol/errors.js");
const { MockBody, endOf } = require("./mock-body.js");
const { framedInChunks } = require("./mock.js");

/**
 * @typedef {import('./mock-body.js').Reader} Reader
 *
 * The side that reads the real answer.
 *
 * @typedef {object} Origin
 * @property {() => void} pause
 * @property {() => void} resume
 * @property {() => void} stop closes the connection to the server
 */

/** The bytes that may wait for the client; for more, the server is read no further. */
const MOST_WAITING = 64 * 1024;

/** The body of a real answer that breaks, or that comes at a rate. The client gets it as that of a mock. */
class RelayedBody extends MockBody {
  /**
   * @param {import('./faulty-body.js').BodyWay} way
   * @param {Origin} origin
   * @param {import('./report.js').Report} report of what the application gets
   */
  constructor({ then, after, slice = Infinity, pause = 0 }, origin, report) {
    super();
    /** The fault that the real answer may still have. */
    this.fault = then;
    this.after = after;
    this.origin = origin;
    this.report = report;
    /** Whether the real answer is read no further. */
    this.isOver = false;
    /** The bytes that come before the fault. */
    this.left = Infinity;
    this.pauseMs = pause;
    this.sliceBytes = slice;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** Whether the fault comes in the place of an answer. */
  get isUnanswered() {
    return this.fault !== undefined && this.after === undefined && this.fault !== "truncated";
  }

  /** The error of a connection that the fault resets; others are closed. */
  get reset() {
    return this.fault === "connection_reset" ? networkError("connectionreset", this.report.url) : undefined;
  }

  /**
   * Make an answer with this body.
   * @param {string} method of the request
   * @param {{ status: number, statusText: string, pairs: headers.Pairs }} head of the real answer
   * @returns {import('./mock.js').Mock}
   */
  under(method, { status, statusText, pairs }) {
    const { fault, after } = this;
    const length = Number(headers.get(pairs, "content-length") ?? Infinity);
    if (method === "HEAD" || BODILESS_STATUSES.includes(status)) this.fault = undefined;
    else if (fault === "malformed_chunk") {
      pairs = framedInChunks(headers.without(pairs, "transfer-encoding"));
      this.left = after ?? 0;
    } else if (fault) {
      this.left = after ?? Math.floor(length / 2);
      // What lies behind the end of a body does not happen.
      if (Number.isFinite(length) && this.left >= length) this.fault = undefined;
    }
    if (!this.fault) this.left = Infinity;
    if (this.left === 0) this.breakOff();
    return { status, statusText, pairs, body: this };
  }

  /** @param {Buffer} chunk of the real answer's body */
  push(chunk) {
    if (this.isOver) return;
    const kept = chunk.subarray(0, Math.min(this.left, chunk.length));
    this.left -= kept.length;
    this.report.data(kept);
    if (kept.length > 0) this.pieces.push(Buffer.from(kept));
    if (this.left === 0) this.breakOff();
    this.drain();
    if (!this.isOver && this.waiting > MOST_WAITING) this.origin.pause();
  }

  /**
   * The real answer is complete.
   * @param {headers.Pairs} trailers
   */
  end(trailers) {
    if (this.isOver) return;
    // Behind the end of the body a fault does not happen, but for a wrong chunk in the place of the last one.
    const isReached = this.after === undefined || this.fault === "malformed_chunk";
    if (this.fault && isReached) this.breakOff();
    else {
      this.isOver = true;
      this.report.end(trailers);
      this.trailers = trailers;
      this.finish = endOf;
    }
    this.drain();
  }

  /** @param {Error} error with which the real answer broke off */
  fail(error) {
    if (this.isOver) return;
    this.isOver = true;
    this.report.fail(error);
    this.finish = (/** @type {Reader} */ reader) => reader.fail(error);
    this.drain();
  }

  /** Let the fault follow what has come, and read no more of the real answer. */
  breakOff() {
    const { fault, reset } = this;
    this.isOver = true;
    this.report.broken(/** @type {string} */ (fault));
    if (fault === "malformed_chunk") this.finish = (/** @type {Reader} */ reader) => reader.malform();
    else if (fault !== "stall") this.finish = (/** @type {Reader} */ reader) => reader.fail(reset);
    this.origin.stop();
  }

  drain() {
    if (this.timer) return;
    const { reader } = this;
    if (this.pauseMs > 0 && reader && this.hasRoom && this.pieces.length > 0) {
      this.timer = setTimeout(() => {
        this.timer = undefined;
        this.drain();
      }, this.pauseMs);
      return this.give(reader, this.slice());
    }
    super.drain();
    if (!this.isOver && this.hasRoom && this.waiting === 0) this.origin.resume();
  }

  /** The bytes that the client has not got. */
  get waiting() {
    return this.pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** @returns {Buffer} the bytes that come at once */
  slice() {
    const [piece] = this.pieces;
    if (piece.length <= this.sliceBytes) this.pieces.shift();
    else this.pieces[0] = piece.subarray(this.sliceBytes);
    return piece.subarray(0, this.sliceBytes);
  }

  close() {
    super.close();
    if (this.isOver) return;
    this.isOver = true;
    this.report.cut();
    this.origin.stop();
  }

  drop() {
    super.drop();
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

module.exports = { RelayedBody };
