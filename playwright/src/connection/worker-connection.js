"use strict";

const { randomUUID } = require("node:crypto");
const { Link } = require("trafficmock-agent/protocol/link");
const { version } = require("../../package.json");
const { ConnectionError, UsageError } = require("../errors.js");
const { ackTimeoutMs } = require("../settings.js");
const { Liveness } = require("./liveness.js");
const { Questions } = require("./questions.js");

/**
 * @typedef {import("../session/session.js").Session} Session
 *
 * @typedef {object} HistoryEntry what the history has of a request, as far as a report has use for it
 * @property {string} id
 * @property {number} timestamp when it began; epoch ms
 * @property {number} [durationMs]
 * @property {{ kind: string, code?: string }} outcome
 * @property {{ kind: string, detail?: string }[]} [events] of its course, oldest first
 * @property {string} [testId] the test that owned it, or whose context it carries
 * @property {string} [title] of that test
 * @property {string} [path] of that test's file
 */

/**
 * The features of a worker beyond protocol 3. Not `subscribe`: a wait is begun without being awaited, so what the test
 * does next could be faster than the subscription.
 */
const FEATURES = ["headers-list", "agents", "clock", "context", "decline", "reply", "strict", "liveness"];

/** One connection to the proxy; every test on it is a session. */
class WorkerConnection {
  /**
   * @param {{ proxyUrl: string, token?: string, workerId?: string }} options
   */
  constructor({ proxyUrl, token, workerId = "0" }) {
    this.proxyUrl = proxyUrl;
    this.token = token;
    this.workerId = workerId;
    /** @type {ReadonlySet<string>} what the proxy speaks beyond protocol 3 */
    this.features = new Set();
    /** @type {Map<string, Session>} */
    this.sessions = new Map();
    this.questions = new Questions(ackTimeoutMs());
    this.pings = 0;
    /** How many tests keep the process alive. */
    this.held = 0;
    /** @type {Error | undefined} why the connection is not there any more */
    this.lost = undefined;
    /** @type {Liveness | undefined} what answers the proxy while this thread is blocked */
    this.liveness = undefined;
    /** @type {readonly string[] | undefined} what the run allows, once what no test owns is refused */
    this.strictRun = undefined;
    /** @type {(error?: Error) => void} */
    this.settle = () => {};
    /** @type {Promise<void>} settles when the proxy has let this worker in, or refused it */
    this.ready = new Promise((resolve, reject) => {
      this.settle = (error) => (error ? reject(error) : resolve());
    });
    this.link = new Link({ proxyUrl, hello: this.hello(), open: (_, act) => act() }, this);
    this.link.hold();
    this.link.open();
  }

  /**
   * @param {{ proxyUrl: string, token?: string, workerId?: string }} options
   * @returns {Promise<WorkerConnection>}
   * @throws {ConnectionError} there is no proxy, or it refuses this worker
   */
  static async open(options) {
    const connection = new WorkerConnection(options);
    await connection.ready;
    return connection;
  }

  hello() {
    return {
      packageVersion: version,
      role: "playwright",
      clientId: `playwright-${this.workerId}`,
      workerId: this.workerId,
      ...(this.token && { token: this.token }),
      features: FEATURES,
      pid: process.pid,
    };
  }

  /** @param {{ connectionId: string, features?: string[] }} hello of the proxy */
  up({ connectionId, features }) {
    if (this.lost) return this.stayStrict(features);
    this.features = new Set(features);
    if (this.features.has("liveness")) {
      this.liveness = new Liveness(this.proxyUrl, { ...this.hello(), livenessOf: connectionId });
    }
    this.settle();
  }

  /** @param {Error} error why the proxy is not reached, or not any more */
  down(error) {
    // A worker's tests end with its connection (protocol 3), so no other is opened. But a test may go on for longer than
    // the proxy waits for a lost run: what no test owns is to be refused until its end, so a strict run gets a connection.
    if (this.strictRun) this.link.release();
    else this.link.close();
    this.fail(new ConnectionError(error.message));
    this.settle(this.lost);
  }

  /**
   * Keep a run strict whose first connection is lost. Nobody waits for the answer.
   * @param {readonly string[]} [features] of the proxy, which may be another one now
   */
  stayStrict(features = []) {
    if (!features.includes("strict")) return;
    this.link.send({ type: "run:strict", queryId: randomUUID(), allow: this.strictRun });
  }

  /** @param {Error} error why nothing will come any more */
  fail(error) {
    if (this.lost) return;
    this.lost = error;
    this.liveness?.end();
    this.questions.rejectAll(error);
    for (const session of this.sessions.values()) session.connectionLost(error);
  }

  /**
   * @param {object} message
   * @throws {ConnectionError} there is no connection
   */
  send(message) {
    if (this.lost) throw new ConnectionError(this.lost.message);
    this.link.send(message);
  }

  /**
   * Send a message that is answered.
   *
   * @param {string} key of the answer: the type and the id
   * @param {object} message
   * @returns {Promise<any>} the answer
   */
  async ask(key, message) {
    this.send(message);
    return this.questions.answerTo(key);
  }

  /**
   * Fail the questions about a test: the proxy answers those that it refuses with an error of the test.
   *
   * @param {string} testId
   * @param {Error} error
   * @returns {boolean} whether there was one
   */
  refuse(testId, error) {
    const refused = ["test:register", "test:strict"].map((type) => this.questions.reject(`${type} ${testId}`, error));
    return refused.includes(true);
  }

  /**
   * Fail the registration of a route.
   *
   * @param {string} routeId
   * @param {Error} error
   * @returns {boolean} whether it was under way
   */
  refuseRoute(routeId, error) {
    return this.questions.reject(`route:register ${routeId}`, error);
  }

  /** Wait until all messages have come that the proxy sent before now. */
  async barrier() {
    this.pings += 1;
    await this.ask(`ping ${this.pings}`, { type: "ping", at: this.pings });
  }

  /**
   * Ask for something that is answered by the id of the question.
   * @param {object} message
   */
  query(message) {
    const queryId = randomUUID();
    return this.ask(`query ${queryId}`, { ...message, queryId });
  }

  /**
   * @param {number} [since] by the proxy's clock; epoch ms
   * @returns {Promise<Map<string, HistoryEntry>>} what the proxy recorded, by request id
   */
  async recorded(since) {
    const { entries } = await this.query({ type: "history:query", ...(since !== undefined && { since }) });
    return new Map(entries.map((/** @type {HistoryEntry} */ entry) => [entry.id, entry]));
  }

  /** @returns {Promise<any[] | undefined>} the connected applications; nothing from a proxy that does not tell */
  async agents() {
    if (!this.features.has("agents")) return undefined;
    return (await this.query({ type: "agents:query" })).agents;
  }

  /**
   * Refuse what no test owns, as long as this connection lives.
   * @param {readonly string[]} allow patterns of what may leave
   */
  async refuseUnowned(allow) {
    this.needStrict();
    const { error } = await this.query({ type: "run:strict", allow });
    if (error) throw new UsageError(error);
    this.strictRun = allow;
    // Who asks once at its beginning keeps the list until its end.
    await this.unmatched();
  }

  /** @returns {Promise<{ requests: import("../../index.js").UnmatchedRequest[], dropped: number }>} what was refused that no test owns */
  unmatched() {
    return this.query({ type: "run:unmatched:query" });
  }

  /** @throws {UsageError} the proxy cannot be strict */
  needStrict() {
    if (!this.features.has("strict")) {
      throw new UsageError(`strict mode is asked for, and the proxy at ${this.proxyUrl} does not have it`);
    }
  }

  /** @param {string} text a message of the proxy */
  message(text) {
    if (this.lost) return;
    const message = JSON.parse(text);
    const { testId } = message;
    if (this.questions.answered(message)) return;
    if (message.type === "request:matched" || message.type === "ws:matched") {
      this.sessions.get(testId)?.receive(message);
    } else {
      // A message that names a test is for that test, any other for all tests of this worker.
      for (const session of [...this.sessions.values()]) {
        if (testId === undefined || testId === session.id) session.receive(message);
      }
    }
  }

  /** Keep the process alive for a test that is under way. */
  hold() {
    this.held += 1;
    this.link.hold();
  }

  /** The counterpart of `hold`: a connection that no test uses does not keep the process alive. */
  release() {
    this.held -= 1;
    if (this.held === 0) this.link.release();
  }

  /** Close the connection. */
  close() {
    // Playwright starts another worker after a test that failed. Until it is there, the run is to stay strict, as it does
    // when a connection is lost.
    if (this.strictRun) this.link.drop();
    else this.link.close();
    this.fail(new ConnectionError("the connection was closed"));
  }
}

module.exports = { WorkerConnection };
