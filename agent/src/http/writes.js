"use strict";

const { nextTick } = process;

/**
 * What the application writes into a `ClientRequest`: methods on this one request
 * hide those of the prototype.
 *
 * @typedef {object} Writer
 * @property {(chunk: Uint8Array) => void} push what is written
 * @property {() => void} begin the head is as good as sent
 * @property {() => void} end nothing more is written
 * @property {(error: any) => void} destroy after the application gave the request up
 * @property {(ms: number) => void} setTimeout
 */

const NAMES = ["write", "end", "flushHeaders", "destroy", "setTimeout"];

class Writes {
  /**
   * @param {import('node:http').ClientRequest} req
   * @param {Writer} writer
   */
  constructor(req, writer) {
    this.req = req;
    this.writer = writer;
    this.isDraining = false;
    this.isFull = false;
    /** Callbacks of writes that the request still has. @type {Set<(error?: any) => void>} */
    this.waiting = new Set();
    this.attach();
  }

  attach() {
    const { req, writer } = this;
    const { write, end, destroy, flushHeaders, setTimeout: setTimeoutOf } = req;
    const own = /** @type {any} */ (req);
    own.write = (/** @type {any[]} */ ...args) => {
      this.push(args);
      const goesOn = write.apply(
        req,
        /** @type {any} */ (args.map((arg) => (typeof arg === "function" ? this.accepted(arg) : arg))),
      );
      writer.begin();
      this.isFull = !goesOn && !this.isDraining;
      return goesOn || this.isDraining;
    };
    own.end = (/** @type {any[]} */ ...args) => {
      this.push(args);
      const given = args.map((arg) => (typeof arg === "function" ? this.finished(arg) : arg));
      const result = end.apply(req, /** @type {any} */ (given));
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

  /** @param {any[]} args of `write` or `end` */
  push([data, encoding]) {
    if (data == null || typeof data === "function") return;
    this.writer.push(
      typeof data === "string"
        ? Buffer.from(data, typeof encoding === "string" ? /** @type {BufferEncoding} */ (encoding) : "utf8")
        : data,
    );
  }

  /**
   * @param {(error?: any) => void} callback of a write
   * @returns {(error?: any) => void} the same, called once
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
   * Node 24 keeps the callback apart from the listeners of the event that it stands for.
   * @param {(error?: any) => void} callback of `end`
   * @returns {(error?: any) => void} the same, called once, with the event `finish` at the latest
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

  /** Take all that is written, in place of the socket that the request does not have yet. */
  drain() {
    this.isDraining = true;
    for (const once of this.waiting) nextTick(once);
    if (this.isFull) nextTick(() => this.req.emit("drain"));
    // An application that waits for 100 Continue writes only after it.
    if (/100-continue/i.test(String(this.req.getHeader("expect")))) nextTick(() => this.req.emit("continue"));
  }

  detach() {
    const own = /** @type {any} */ (this.req);
    for (const name of NAMES) delete own[name];
  }
}

module.exports = { Writes };
