"use strict";

const { MockBody, endOf } = require("./mock-body.js");
const { networkError } = require("../protocol/errors.js");
const { RESETS } = require("../protocol/facts.js");

/** @typedef {import('./mock-body.js').Reader} Reader */

/**
 * The body of a mock that a test sends piece by piece (feature `stream-mocks`). A piece is acknowledged when the client
 * has it, and has room for another.
 */
class StreamedBody extends MockBody {
  /** @param {import('./exchange.js').Exchange} exchange the request that it answers */
  constructor({ agent, id, request, inScope }) {
    super();
    this.agent = agent;
    this.id = id;
    this.url = request.url;
    this.inScope = inScope;
    /** Whether more may come. */
    this.isOpen = false;
    /** How many pieces the client has got. */
    this.given = 0;
    /** How many pieces are acknowledged. */
    this.acknowledged = 0;
  }

  /** Wait for the pieces. */
  open() {
    this.isOpen = true;
    this.agent.keepAlive.hold();
    this.agent.waiters.enter(this.id, this, () => {});
  }

  /** @returns {boolean} whether more might have come until now */
  settle() {
    const wasOpen = this.isOpen;
    this.isOpen = false;
    if (!wasOpen) return false;
    this.agent.waiters.leave(this.id);
    this.agent.keepAlive.release();
    return true;
  }

  /** @param {any} message about the stream */
  receive({ type, seq, body, errorCode }) {
    if (type === "stream:data") this.pieces.push(Buffer.from(typeof body === "string" ? body : "", "base64"));
    else if (type === "stream:end" || type === "stream:abort") {
      this.settle();
      this.tell("stream:ack", { seq });
      this.finish = type === "stream:end" ? endOf : this.breakingOff(errorCode);
    } else return;
    this.drain();
  }

  /** Break the body off: the proxy is lost, and with it what would have come. */
  lost() {
    this.settle();
    this.finish = this.breakingOff("connectionreset");
    this.drain();
  }

  /**
   * @param {string} errorCode of the abort
   * @returns {(reader: Reader) => void} breaks the body off at its reader
   */
  breakingOff(errorCode) {
    return (reader) => reader.fail(RESETS.includes(errorCode) ? networkError("connectionreset", this.url) : undefined);
  }

  /**
   * @param {Reader} reader
   * @param {Buffer} piece
   */
  give(reader, piece) {
    super.give(reader, piece);
    this.given += 1;
  }

  drain() {
    super.drain();
    const seq = this.hasRoom ? this.given : this.given - 1;
    if (!this.isOpen || seq <= this.acknowledged) return;
    this.acknowledged = seq;
    this.tell("stream:ack", { seq });
  }

  close() {
    super.close();
    if (this.settle()) this.tell("stream:closed");
  }

  /**
   * @param {string} type
   * @param {object} [more]
   */
  tell(type, more) {
    this.agent.send({ type, requestId: this.id, ...more });
  }
}

module.exports = { StreamedBody };
