"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { BODILESS_STATUSES } = require("../protocol/facts.js");
const headers = require("../protocol/headers.js");
const { networkError } = require("../protocol/errors.js");
const { MockBody, endOf } = require("./mock-body.js");
const { framedInChunks } = require("./mock.js");

/**
 * What a test does to a real answer on its way back (feature `faults`): it breaks, or its body comes at a rate.
 * @typedef {{ fault?: { kind: import('./faulty-body.js').Fault["kind"], after?: number }, rate?: number }} WayBack
 */

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

/** The shortest time between two pieces of a body that comes at a rate; ms. */
const SHORTEST_PAUSE_MS = 50;

/** The bytes that may wait for the client; for more, the server is read no further. */
const MOST_WAITING = 64 * 1024;

/** The body of a real answer that breaks, or that comes at a rate. The client gets it as that of a mock. */
class RelayedBody extends MockBody {
  /**
   * @param {WayBack} wayBack
   * @param {Origin} origin
   * @param {import('./report.js').Report} report of what the application gets
   */
  constructor({ fault, rate }, origin, report) {
    super();
    this.fault = fault;
    this.origin = origin;
    this.report = report;
    /** Whether the real answer is read no further. */
    this.isOver = false;
    /** The bytes that come before the fault. */
    this.left = Infinity;
    this.pauseMs = rate ? Math.max(SHORTEST_PAUSE_MS, Math.ceil(1000 / rate)) : 0;
    this.sliceBytes = rate ? Math.max(1, Math.floor((rate * this.pauseMs) / 1000)) : Infinity;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** Whether the fault comes in the place of an answer. */
  get isUnanswered() {
    const { kind, after } = this.fault ?? {};
    return kind === "empty_response" || (kind === "connection_reset" && after === undefined);
  }

  /** The error of a connection that the fault resets; others are closed. */
  get reset() {
    const isReset = this.fault?.kind === "connection_reset";
    return isReset ? networkError("connectionreset", this.report.url) : undefined;
  }

  /**
   * Make an answer with this body.
   * @param {string} method of the request
   * @param {{ status: number, statusText: string, pairs: headers.Pairs }} head of the real answer
   * @returns {import('./mock.js').Mock}
   */
  under(method, { status, statusText, pairs }) {
    const { kind, after } = this.fault ?? {};
    const length = Number(headers.get(pairs, "content-length") ?? Infinity);
    if (method === "HEAD" || BODILESS_STATUSES.includes(status)) this.fault = undefined;
    else if (kind === "malformed_chunk") {
      pairs = framedInChunks(headers.without(pairs, "transfer-encoding"));
      this.left = after ?? 0;
    } else if (kind) {
      this.left = after ?? (kind === "truncated" ? Math.floor(length / 2) : 0);
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

  /** The real answer is complete. */
  end() {
    if (this.isOver) return;
    if (this.fault) this.breakOff();
    else {
      this.isOver = true;
      this.report.end();
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
    const { kind } = /** @type {NonNullable<WayBack["fault"]>} */ (this.fault);
    const { reset } = this;
    this.isOver = true;
    this.report.broken(kind);
    if (kind === "malformed_chunk") this.finish = (/** @type {Reader} */ reader) => reader.malform();
    else if (kind !== "stall") this.finish = (/** @type {Reader} */ reader) => reader.fail(reset);
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
