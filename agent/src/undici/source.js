"use strict";

const { setImmediate } = require("node:timers");
const { Readable } = require("node:stream");
const { iteratorOf, streamOf } = require("./body.js");

/** How much is read before it is known whether anybody wants the body; bytes. */
const FIRST_BYTES = 64 * 1024;

/** A body that comes bit by bit: read no faster than somebody takes it. */
class Source {
  /**
   * @param {any} body a stream or an iterable
   * @param {import('../exchange/upload.js').Upload} upload is given what is read
   */
  constructor(body, upload) {
    this.given = body;
    this.upload = upload;
    this.iterator = iteratorOf(body);
    /** @type {Uint8Array[]} */
    this.chunks = [];
    /** @type {Promise<boolean> | undefined} */
    this.reading = undefined;
  }

  /**
   * @param {any} body
   * @returns {boolean} whether it is not better read whole, or left to undici
   */
  static canRead(body) {
    return typeof body.arrayBuffer !== "function";
  }

  /** Read what is there at once: most bodies are. */
  async begin() {
    const later = new Promise((resolve) => setImmediate(resolve, false));
    let isMore = true;
    while (isMore && this.upload.copy.size < FIRST_BYTES) isMore = await Promise.race([this.next(), later]);
  }

  /** @returns {Promise<boolean>} whether there may be more */
  next() {
    // A failure is kept: an iterator that failed would next say that it is done.
    this.reading ??= this.step().then((isMore) => {
      this.reading = undefined;
      return isMore;
    });
    return this.reading;
  }

  async step() {
    const { done, value } = await this.iterator.next();
    if (done) {
      if (!this.upload.isWhole) this.upload.end();
      return false;
    }
    const chunk = typeof value === "string" ? Buffer.from(value) : value;
    this.chunks.push(chunk);
    this.upload.push(chunk);
    return true;
  }

  /** Read on to the end, or until it is more than may be handed over. */
  async readAll() {
    while (!this.upload.isTold && (await this.next()));
  }

  /** @returns {any} the body for undici, of the kind it was */
  body() {
    if (!this.upload.isWhole) return this.flow();
    return Readable.prototype.isPrototypeOf(this.given) ? streamOf(this.chunks, this.given) : this.flow();
  }

  async *flow() {
    try {
      do yield* this.chunks.splice(0);
      while (!this.upload.isWhole && (await this.next()));
      yield* this.chunks.splice(0);
    } finally {
      this.close();
    }
  }

  /** @param {any} [reason] why nobody reads further */
  close(reason) {
    if (this.upload.isWhole) return;
    if (typeof this.given.destroy === "function") this.given.destroy(reason instanceof Error ? reason : undefined);
    else Promise.resolve(this.iterator.return?.()).catch(() => {});
  }
}

module.exports = { Source };
