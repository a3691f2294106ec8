"use strict";

/** A copy of a body, up to a limit; `size` counts all of its bytes. */
class BodyCopy {
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
    // Copied, because clients reuse the memory that they read into, or pass it on.
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

module.exports = { BodyCopy };
