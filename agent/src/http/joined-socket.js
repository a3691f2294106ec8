"use strict";

const net = require("node:net");
const { ContinueGate } = require("./continue-gate.js");

/** Events that tell of a connection, and that nothing else follows from. */
const TOLD = ["timeout", "session", "keylog", "OCSPResponse"];

/**
 * A mock socket that the application was given before it was decided that the request passes, joined with the real one
 * that the application's `http.Agent` has for it. Bytes go through unread in both directions, so the request leaves as
 * the application's client writes it. The agent gets its socket back as it would have.
 */
class Joint {
  /**
   * @param {import('./mock-socket.js').MockSocket} mock
   * @param {any} real
   * @param {import('./continue-gate.js').ContinueGate} [gate] of a body that waits for the server
   */
  constructor(mock, real, gate) {
    this.mock = mock;
    this.real = real;
    this.gate = gate;
    this.isOver = false;
    /** @type {[string, (...args: any[]) => void][]} */
    this.listeners = [];
    mock.joint = this;
    mock.follow(real);
    for (const [name, args] of mock.asked) real[name]?.(...args);
    this.timeLimit();
    for (const event of TOLD) this.on(event, (...args) => mock.emit(event, ...args));
    this.on("data", (chunk) => {
      const given = gate ? gate.read(chunk) : chunk;
      if (given.length && !mock.push(given)) real.pause();
    });
    this.on("end", () => mock.push(null));
    this.on("error", (error) => mock.failAs(error));
    this.on("close", () => this.closed());
    mock.on("agentRemove", () => real.emit("agentRemove"));
  }

  /** Let the real socket count the idle time. */
  timeLimit() {
    const { mock, real } = this;
    const { timeout } = mock;
    if (!timeout) return;
    net.Socket.prototype.setTimeout.call(mock, 0);
    /** @type {any} */ (mock).timeout = timeout;
    if (real.connecting) real.once("connect", () => real.setTimeout(timeout));
    else real.setTimeout(timeout);
  }

  /**
   * @param {string} event
   * @param {(...args: any[]) => void} listener
   */
  on(event, listener) {
    this.listeners.push([event, listener]);
    this.real.on(event, listener);
  }

  closed() {
    const { mock, real } = this;
    if (this.isOver || mock.destroyed) return;
    // What the server sent before it closed the connection may not be read yet.
    if (!real.readableEnded || mock.readableEnded) mock.destroy();
    else mock.once("end", () => mock.destroy());
  }

  /**
   * @param {Buffer} chunk
   * @param {(error?: Error | null) => void} done
   */
  write(chunk, done) {
    (this.gate ?? this.real).write(chunk, done);
  }

  /** @param {(error?: Error | null) => void} done */
  end(done) {
    this.real.end(() => done());
  }

  resume() {
    if (!this.isOver) this.real.resume();
  }

  destroy() {
    this.gate?.close();
    if (!this.isOver) this.real.destroy();
  }

  /** Give the real socket back to its agent. */
  free() {
    const { real } = this;
    this.isOver = true;
    for (const [event, listener] of this.listeners) real.removeListener(event, listener);
    if (this.gate?.isUnsent) real.destroy();
    else real.emit("free");
  }
}

/**
 * Join the mock socket that a request has with the real one that it gets.
 * @param {import('./mock-socket.js').MockSocket} mock
 * @param {any} real
 * @param {any} req which an agent finds at the real one, when that is free again
 * @param {boolean} isContinued whether the application has been told to send its body, for which it asked the server
 */
function join(mock, real, req, isContinued) {
  real._httpMessage = req;
  return new Joint(mock, real, isContinued ? new ContinueGate(real) : undefined);
}

module.exports = { Joint, join };
