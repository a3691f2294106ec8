"use strict";

const { setImmediate } = require("node:timers");
const { Readable } = require("node:stream");
const { iteratorOf, streamOf } = require("./body.js");

/** How much of a body is read before the request is announced; bytes. */
const FIRST_BYTES = 64 * 1024;

/** A streamed body, read only as fast as its consumer reads. */
class Source {
  /**
   * @param {any} body a stream or an iterable
   * @param {import('../exchange/upload.js').Upload} upload gets each chunk that is read
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

  /** Read the chunks that are available at once: most bodies are complete then. */
  async begin() {
    const later = new Promise((resolve) => setImmediate(resolve, false));
    let isMore = true;
    while (isMore && this.upload.copy.size < FIRST_BYTES) isMore = await Promise.race([this.next(), later]);
  }

  /** @returns {Promise<boolean>} whether there may be more */
  next() {
    // A rejected promise is kept: after a failure, an iterator reports its end.
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

  /** Read to the end, or until the body is longer than the limit for handlers. */
  async readAll() {
    while (!this.upload.isTold && (await this.next()));
  }

  /** @returns {any} the body for undici: a stream if it was a complete one, else an iterable */
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

  /** @param {any} [reason] why the body is not read further */
  close(reason) {
    if (this.upload.isWhole) return;
    if (typeof this.given.destroy === "function") this.given.destroy(reason instanceof Error ? reason : undefined);
    else Promise.resolve(this.iterator.return?.()).catch(() => {});
  }
}

module.exports = { Source };
