"use strict";

/** @typedef {import('../protocol/headers.js').Pairs} Pairs */

/**
 * The client library's side of a mock's body.
 *
 * @typedef {object} Reader
 * @property {(chunk: Buffer) => boolean} data takes a piece, never an empty one; returns whether there is room for another
 * @property {(trailers: Pairs) => void} end gets the fields behind the body
 * @property {(reset: Error | undefined) => void} fail breaks the body off: as a server that closes the connection, or that
 *   resets it with this error
 * @property {() => void} malform breaks the body off by bytes that are no chunk
 */

const endOf = (/** @type {Reader} */ reader, /** @type {MockBody} */ { trailers }) => reader.end(trailers);

/** The body of a mock. Its reader gets the pieces as it has room; a whole body is one piece. */
class MockBody {
  /** @param {Buffer} [whole] without it, pieces follow */
  constructor(whole) {
    /** What the reader has no room for yet. @type {Buffer[]} */
    this.pieces = whole?.length ? [whole] : [];
    /** Called after the last piece. @type {((reader: Reader, body: MockBody) => void) | undefined} */
    this.finish = whole && endOf;
    /** The fields behind the body. @type {Pairs} */
    this.trailers = [];
    /** @type {Reader | undefined} */
    this.reader = undefined;
    this.hasRoom = false;
    this.isDraining = false;
  }

  /**
   * Give the body to a reader.
   * @param {Reader} reader calls `more` when it has room again, and `close` when it is over before its end
   * @param {boolean} hasRoom whether it has room now
   */
  flow(reader, hasRoom) {
    this.reader = reader;
    this.hasRoom = hasRoom;
    this.drain();
  }

  /** Give the next pieces: the reader has room again. */
  more() {
    this.hasRoom = true;
    this.drain();
  }

  drain() {
    // A reader may call `more` while it takes a piece.
    if (!this.reader || this.isDraining) return;
    this.isDraining = true;
    while (this.reader && this.hasRoom && this.pieces.length > 0) {
      this.give(this.reader, /** @type {Buffer} */ (this.pieces.shift()));
    }
    this.isDraining = false;
    const { reader, finish } = this;
    if (!this.hasRoom || !finish || !reader) return;
    this.drop();
    finish(reader, this);
  }

  /**
   * @param {Reader} reader
   * @param {Buffer} piece
   */
  give(reader, piece) {
    this.hasRoom = false;
    if (piece.length === 0 || reader.data(piece)) this.hasRoom = true;
  }

  /** Give nothing more: the application does not read further. */
  close() {
    this.drop();
  }

  drop() {
    this.pieces = [];
    this.finish = this.reader = undefined;
  }
}

module.exports = { MockBody, endOf };
