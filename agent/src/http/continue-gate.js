"use strict";

const { setTimeout, clearTimeout } = require("node:timers");

/**
 * How long a body waits for the server's `100 Continue`, if the application has been told to go on already; ms. A server
 * need not send one (RFC 9110, section 10.1.1); curl waits as long.
 */
const CONTINUE_MS = 1000;
const END_OF_HEAD = Buffer.from("\r\n\r\n");
const CONTINUE = 100;

/**
 * @param {any} req a `ClientRequest`
 * @returns {boolean} whether it asks the server before it sends its body
 */
const expectsContinue = (req) =>
  /100-continue/i.test(String(req.getHeader("expect") ?? headExpects(req._header ?? "")));

/** @param {string} head */
const headExpects = (head) => /\r\nexpect:([^\r]*)/i.exec(head)?.[1] ?? "";

/**
 * Holds a body that the application has written because a test wanted it, until the server wants it, too. The application
 * has had its `continue`, so that of the server is dropped. If the server answers at once, its answer arrives, and the
 * body stays here.
 */
class ContinueGate {
  /** @param {any} real the socket */
  constructor(real) {
    this.real = real;
    /** What was sent of the head, or received of an answer, until it is whole. */
    this.head = Buffer.alloc(0);
    this.isHeadSent = false;
    this.isOpen = false;
    /** Whether the first answer but for informational ones has come. */
    this.isAnswered = false;
    this.received = Buffer.alloc(0);
    /** @type {{ bytes: Buffer, done: (error?: Error | null) => void }[]} */
    this.held = [];
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** @returns {boolean} whether the server answered without the body, so that nobody can use its connection again */
  get isUnsent() {
    return this.isHeadSent && !this.isOpen;
  }

  /**
   * @param {Buffer} chunk that the application's client writes
   * @param {(error?: Error | null) => void} done
   */
  write(chunk, done) {
    if (this.isOpen) return void this.real.write(chunk, done);
    if (this.isHeadSent) return this.hold(chunk, done);
    this.head = Buffer.concat([this.head, chunk]);
    const end = this.head.indexOf(END_OF_HEAD);
    if (end < 0) return done();
    this.isHeadSent = true;
    const at = end + END_OF_HEAD.length;
    const body = this.head.subarray(at);
    this.real.write(this.head.subarray(0, at), () => {
      if (!this.isOpen && !this.isAnswered) this.timer = setTimeout(() => this.open(), CONTINUE_MS);
    });
    if (body.length) this.hold(body, done);
    else done();
  }

  /**
   * @param {Buffer} bytes
   * @param {(error?: Error | null) => void} done
   */
  hold(bytes, done) {
    // Who has its answer does not wait for the rest to be sent.
    if (this.isAnswered) return done();
    this.held.push({ bytes, done });
  }

  /** Send the body. */
  open() {
    clearTimeout(this.timer);
    this.isOpen = true;
    for (const { bytes, done } of this.held.splice(0)) this.real.write(bytes, done);
  }

  /** Do without the body. */
  close() {
    clearTimeout(this.timer);
    for (const { done } of this.held.splice(0)) done();
  }

  /**
   * @param {Buffer} chunk that the server sends
   * @returns {Buffer} what the application gets of it
   */
  read(chunk) {
    if (this.isAnswered) return chunk;
    this.received = Buffer.concat([this.received, chunk]);
    /** @type {Buffer[]} */
    const given = [];
    for (let end; (end = this.received.indexOf(END_OF_HEAD)) >= 0;) {
      const at = end + END_OF_HEAD.length;
      const status = Number(/^HTTP\/\S+ (\d+)/.exec(this.received.toString("latin1", 0, at))?.[1]);
      if (!(status >= CONTINUE && status < 200) || status === 101) return this.answered(given);
      if (status !== CONTINUE) given.push(this.received.subarray(0, at));
      this.received = this.received.subarray(at);
      if (status === CONTINUE) {
        this.isAnswered = true;
        this.open();
        return Buffer.concat([...given, this.received]);
      }
    }
    return Buffer.concat(given);
  }

  /** @param {Buffer[]} before informational answers */
  answered(before) {
    this.isAnswered = true;
    this.close();
    return Buffer.concat([...before, this.received]);
  }
}

/**
 * Send the body of a request in the place of the application's: if it asks the server first, when the server wants it.
 * @param {any} up the request
 * @param {Buffer | null} body
 */
function sendBody(up, body) {
  if (!body?.length) return void up.end();
  if (!expectsContinue(up)) return void up.end(body);
  const go = () => {
    clearTimeout(timer);
    up.removeListener("continue", go);
    if (!up.writableEnded && !up.destroyed) up.end(body);
  };
  const timer = setTimeout(go, CONTINUE_MS);
  up.once("continue", go);
  up.once("close", () => clearTimeout(timer));
  up.prependOnceListener("response", (/** @type {any} */ response) => {
    clearTimeout(timer);
    // Without its body, nothing else can be sent on the connection.
    if (!up.writableEnded) response.once("end", () => up.destroy());
  });
  up.flushHeaders();
}

module.exports = { ContinueGate, expectsContinue, sendBody };
