"use strict";

const { clearTimeout, setTimeout } = require("node:timers");
const { STREAM } = require("trafficmock-agent/protocol/facts");
const { StreamClosedError, TestEndedError, TimeoutError, UsageError } = require("../errors.js");

/** The longest piece, and how much may be on its way to the application (docs/protocol/stream-mocks.md). */
const { pieceBytes, windowBytes, windowPieces } = STREAM;

/** How long a call waits for the application to read, and for the request to come; ms. */
const TIMEOUT_MS = 30_000;

/** Why no further piece arrives, by the reason in `stream:closed`. */
const WHY = /** @type {Record<string, string>} */ ({
  application: "the application closed the answer",
  agent: "the application's connection to the proxy is lost",
  ended: "the test has ended",
});

/** A promise with its functions. */
class Arrival {
  constructor() {
    /** @type {Promise<void>} */
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // It may be rejected before the call that waits for it has got it.
    this.promise.catch(() => {});
  }
}

/**
 * Wait, with a time limit.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {string} text of the error
 * @returns {Promise<T>}
 * @throws {TimeoutError} the promise is not settled after `TIMEOUT_MS`
 */
async function inTime(promise, text) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const expired = new Promise((_, reject) => {
    // After a breakpoint the timer is due at once. What came meanwhile is read before `setImmediate` calls.
    timer = setTimeout(() => setImmediate(() => reject(new TimeoutError(text))), TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The writing end of a streamed answer (feature `stream-mocks`). Pieces wait here while `windowBytes` or
 * `windowPieces` are not acknowledged.
 */
class WrittenStream {
  /**
   * @param {import("./session.js").Session} session
   * @param {import("./request-state.js").RequestState} request
   * @param {string} place the file and line of the route
   */
  constructor(session, request, place) {
    this.session = session;
    this.request = request;
    this.place = place;
    /** @type {Error | undefined} the error of later calls, once the stream is over */
    this.closed = undefined;
    /** Whether the application closed the answer, so that nothing is left to be ended. */
    this.wasLeft = false;
    this.seq = 0;
    /** @type {{ message: object, size: number, arrival?: Arrival }[]} what is not sent yet */
    this.queued = [];
    /** @type {{ seq: number, size: number, arrival?: Arrival }[]} what is not acknowledged yet */
    this.sent = [];
    this.inFlight = 0;
    /** @type {Arrival | undefined} that of the end or the abort */
    this.ended = undefined;
  }

  /**
   * Send a part of the body.
   *
   * @param {Buffer} content
   * @returns {Promise<void>} resolved when all of it is with the application's process
   * @throws {UsageError} the stream was ended
   * @throws {StreamClosedError} the stream is over
   * @throws {TestEndedError} the test has ended
   * @throws {TimeoutError} the application has read nothing for 30 s
   */
  async send(content) {
    this.checkOpen();
    if (!content.length) return;
    const arrival = new Arrival();
    for (let start = 0; start < content.length; start += pieceBytes) {
      const piece = content.subarray(start, start + pieceBytes);
      const isLast = start + pieceBytes >= content.length;
      const message = { type: "stream:data", body: piece.toString("base64") };
      this.queued.push({ message, size: piece.length, ...(isLast && { arrival }) });
    }
    this.flush();
    await this.limited(arrival);
  }

  /**
   * End the body; a second call changes nothing. Clients close an answer when they have read what its protocol has for an
   * end, and that may be before this call: it is done then.
   */
  async end() {
    if (this.ended) await this.limited(this.ended);
    else await this.conclude({ type: "stream:end" });
  }

  /**
   * Break the answer off, after the pieces so far; done if the application closed it.
   * @param {string} errorCode of protocol 3
   */
  async abort(errorCode) {
    await this.conclude({ type: "stream:abort", errorCode });
  }

  /** Break the answer off because its handler threw an error. */
  fail() {
    if (this.closed || this.ended) return;
    this.queued = [];
    this.finish({ type: "stream:abort", errorCode: "connectionreset" });
  }

  /** @param {object} message */
  async conclude(message) {
    if (this.wasLeft && !this.session.isEnded) return;
    this.checkOpen();
    await this.limited(this.finish(message));
  }

  /** @param {object} message */
  finish(message) {
    this.ended = new Arrival();
    this.queued.push({ message, size: 0, arrival: this.ended });
    this.flush();
    return this.ended;
  }

  checkOpen() {
    if (this.session.isEnded) throw new TestEndedError(`${this.request}: the test has ended`);
    if (this.closed) throw this.closed;
    if (this.ended) throw new UsageError(`${this.request}: the streamed answer has been ended already`);
  }

  /** @param {Arrival} arrival */
  limited(arrival) {
    const where = this.place && ` of the route at ${this.place}`;
    const what = `the application has read nothing for ${TIMEOUT_MS / 1000} s from the streamed answer${where}`;
    return inTime(arrival.promise, `${this.request}: ${what}`);
  }

  flush() {
    while (this.queued.length && this.hasRoom(this.queued[0].size)) {
      const { message, size, arrival } = /** @type {WrittenStream["queued"][0]} */ (this.queued.shift());
      this.seq += 1;
      this.inFlight += size;
      this.sent.push({ seq: this.seq, size, arrival });
      this.session.send({ ...message, requestId: this.request.id, seq: this.seq });
    }
  }

  /** @param {number} size of the next piece; bytes. The end has none, and needs no room. */
  hasRoom(size) {
    return !size || (this.sent.length < windowPieces && this.inFlight + size <= windowBytes);
  }

  // Messages

  /** @param {{ seq: number }} message `stream:ack`: the pieces have reached the application */
  acknowledged({ seq }) {
    while (this.sent.length && this.sent[0].seq <= seq) {
      const { size, arrival } = /** @type {WrittenStream["sent"][0]} */ (this.sent.shift());
      this.inFlight -= size;
      arrival?.resolve?.();
    }
    this.flush();
  }

  /** @param {{ reason?: string, message?: string }} message `stream:closed`: no further piece arrives */
  gone({ reason = "", message }) {
    const why = message || WHY[reason] || "the proxy closed the answer";
    this.wasLeft = reason === "application";
    if (this.wasLeft) this.ended?.resolve?.();
    this.lost(new StreamClosedError(`${this.request}: ${why}`));
  }

  /** @param {Error} error of all that waits, and of later calls */
  lost(error) {
    this.closed ??= error;
    for (const { arrival } of [...this.queued, ...this.sent]) arrival?.reject?.(error);
    this.ended?.reject?.(error);
    this.queued = [];
    this.sent = [];
  }
}

/** The streamed answers of one test. */
class WrittenStreams {
  constructor() {
    /** @type {Map<string, WrittenStream>} by the id of their request */
    this.open = new Map();
    /** Rejected when no request can come any more. */
    this.over = new Arrival();
  }

  /** @param {WrittenStream} stream */
  add(stream) {
    this.open.set(stream.request.id, stream);
  }

  /** @param {any} message `stream:ack` or `stream:closed` */
  receive(message) {
    const stream = this.open.get(message.requestId);
    if (message.type === "stream:ack") stream?.acknowledged(message);
    else stream?.gone(message);
  }

  /** @param {Error} [error] with which all that waits fails; by default the test has ended */
  end(error) {
    this.over.reject?.(error ?? new TestEndedError("the test ended before the request of a streamed answer came"));
    for (const stream of this.open.values()) {
      stream.lost(error ?? new TestEndedError(`${stream.request}: the test has ended`));
    }
  }
}

/** A streamed answer whose request may not have come yet. */
class AwaitedStream {
  /**
   * @param {WrittenStreams} streams of the test
   * @param {string} [name] the route, for messages
   */
  constructor(streams, name = "") {
    this.streams = streams;
    this.name = name;
    /** @type {Promise<WrittenStream>} */
    this.begun = new Promise((resolve) => {
      this.begin = resolve;
    });
  }

  /**
   * @returns {Promise<WrittenStream>}
   * @throws {TimeoutError} no request has come for 30 s
   * @throws {TestEndedError} the test has ended before
   */
  wait() {
    const seconds = TIMEOUT_MS / 1000;
    // A stream that has begun tells its own end.
    const begun = /** @type {Promise<WrittenStream>} */ (Promise.race([this.begun, this.streams.over.promise]));
    return inTime(begun, `no request came for ${seconds} s that the streamed answer ${this.name} is for`);
  }
}

module.exports = { AwaitedStream, WrittenStream, WrittenStreams };
