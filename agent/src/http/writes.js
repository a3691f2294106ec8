"use strict";

const { nextTick } = process;

/**
 * Observes the calls of the application that write a `ClientRequest`, by methods of this
 * one object that hide those of the prototype.
 *
 * @typedef {object} Writer
 * @property {(chunk: Uint8Array) => void} push called with each part of the body
 * @property {() => void} begin called when the head is complete
 * @property {() => void} end called when the body is complete
 * @property {(error: any) => void} destroy called after the application destroyed the request
 * @property {(ms: number) => void} setTimeout called with an idle timeout
 */

/** The methods of this object, against the order in which they are set. */
const LAST_FIRST = ["setTimeout", "destroy", "flushHeaders", "end", "write"];

class Writes {
  /**
   * @param {import('node:http').ClientRequest} req
   * @param {Writer} writer
   */
  constructor(req, writer) {
    this.req = req;
    this.writer = writer;
    /** Whether a method is running: that of a subclass may call another one with the same data. */
    this.isInCall = false;
    this.attach();
  }

  attach() {
    const { req, writer } = this;
    const { write, end, destroy, flushHeaders, setTimeout: setTimeoutOf } = req;
    const own = /** @type {any} */ (req);
    own.write = (/** @type {any[]} */ ...args) => {
      const goesOn = this.call(args, () => write.apply(req, /** @type {any} */ (this.writing(args))));
      writer.begin();
      return this.written(goesOn);
    };
    own.end = (/** @type {any[]} */ ...args) => {
      const result = this.call(args, () => end.apply(req, /** @type {any} */ (this.ending(args))));
      writer.end();
      return result;
    };
    own.flushHeaders = () => {
      flushHeaders.call(req);
      writer.begin();
    };
    own.destroy = (/** @type {any[]} */ ...args) => {
      const result = destroy.apply(req, /** @type {any} */ (args));
      writer.destroy(args[0]);
      return result;
    };
    own.setTimeout = (/** @type {number} */ ms, /** @type {any} */ listener) => {
      writer.setTimeout(Number(ms));
      return setTimeoutOf.call(req, ms, listener);
    };
  }

  /**
   * @template T
   * @param {any[]} args of `write` or `end`
   * @param {() => T} act calls it
   * @returns {T}
   */
  call(args, act) {
    if (this.isInCall) return act();
    this.push(args);
    this.isInCall = true;
    try {
      return act();
    } finally {
      this.isInCall = false;
    }
  }

  /**
   * @param {any[]} args of `write`
   * @returns {any[]} those that the request gets
   */
  writing(args) {
    return args;
  }

  /**
   * @param {any[]} args of `end`
   * @returns {any[]} those that the request gets
   */
  ending(args) {
    return args;
  }

  /**
   * @param {boolean} goesOn the result of `write`
   * @returns {boolean} the result for the application
   */
  written(goesOn) {
    return goesOn;
  }

  /** @param {any[]} args of `write` or `end` */
  push([data, encoding]) {
    if (data == null || typeof data === "function") return;
    this.writer.push(
      typeof data === "string"
        ? Buffer.from(data, typeof encoding === "string" ? /** @type {BufferEncoding} */ (encoding) : "utf8")
        : data,
    );
  }

  detach() {
    const own = /** @type {any} */ (this.req);
    // The last one first: V8 then takes the property back, and otherwise makes a slow object of the request.
    for (const name of LAST_FIRST) delete own[name];
  }
}

/** The writes of a request that has no socket yet: they can be accepted without back-pressure. */
class HeldWrites extends Writes {
  isDraining = false;
  isFull = false;
  /** Callbacks of writes that are still in the request's buffer. @type {Set<(error?: any) => void>} */
  waiting = new Set();

  /** @param {any[]} args of `write` */
  writing(args) {
    return args.map((arg) => (typeof arg === "function" ? this.accepted(arg) : arg));
  }

  /** @param {any[]} args of `end` */
  ending(args) {
    return args.map((arg) => (typeof arg === "function" ? this.finished(arg) : arg));
  }

  /** @param {boolean} goesOn the result of `write` */
  written(goesOn) {
    this.isFull = !goesOn && !this.isDraining;
    return goesOn || this.isDraining;
  }

  /**
   * @param {(error?: any) => void} callback of a write
   * @returns {(error?: any) => void} calls it once
   */
  accepted(callback) {
    let isCalled = false;
    const once = (/** @type {any} */ error = undefined) => {
      this.waiting.delete(once);
      if (isCalled) return;
      isCalled = true;
      callback(error);
    };
    this.waiting.add(once);
    if (this.isDraining) nextTick(once);
    return once;
  }

  /**
   * Node 24 does not keep the callback of `end` among the listeners of `finish`.
   * @param {(error?: any) => void} callback of `end`
   * @returns {(error?: any) => void} calls it once, with the event `finish` at the latest
   */
  finished(callback) {
    let isCalled = false;
    const once = (/** @type {any} */ error = undefined) => {
      if (isCalled) return;
      isCalled = true;
      callback(error);
    };
    this.req.once("finish", () => once());
    return once;
  }

  /** Accept all writes without back-pressure, because the request has no socket yet. */
  drain() {
    this.isDraining = true;
    for (const once of this.waiting) nextTick(once);
    if (this.isFull) nextTick(() => this.req.emit("drain"));
  }
}

module.exports = { HeldWrites, Writes };
