"use strict";

const { randomUUID } = require("node:crypto");
const { Worker } = require("node:worker_threads");
const { version } = require("../../package.json");
const { ConnectionError, UsageError } = require("../errors.js");
const { ackTimeoutMs } = require("../settings.js");

/**
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {{ up?: { features?: string[] }, down?: string }} News of the connection itself
 */

/**
 * What a worker speaks beyond protocol 3. Not `subscribe`: a wait is begun without being awaited, so what the test
 * does next could be faster than the subscription.
 */
const FEATURES = ["headers-list", "agents", "context", "decline", "strict"];
/** The key of the message that each answer belongs to, by the answer's type. */
const ANSWERS = /** @type {Record<string, (message: any) => string>} */ ({
  pong: ({ at }) => `ping ${at}`,
  "test:registered": ({ testId }) => `test:register ${testId}`,
  "test:unregistered": ({ testId }) => `test:unregister ${testId}`,
  "test:stricted": ({ testId }) => `test:strict ${testId}`,
  "route:registered": ({ routeId }) => `route:register ${routeId}`,
  "route:unregistered": ({ routeId, testId }) => `route:unregister ${routeId ?? testId}`,
  "history:result": ({ queryId }) => `query ${queryId}`,
  "agents:result": ({ queryId }) => `query ${queryId}`,
  "run:stricted": ({ queryId }) => `query ${queryId}`,
  "run:unmatched": ({ queryId }) => `query ${queryId}`,
});

/** One connection to the proxy; every test on it is a session. */
class WorkerConnection {
  /**
   * @param {{ proxyUrl: string, token?: string, workerId?: string }} options
   */
  constructor({ proxyUrl, token, workerId = "0" }) {
    this.proxyUrl = proxyUrl;
    this.token = token;
    this.workerId = workerId;
    this.ackMs = ackTimeoutMs();
    /** @type {ReadonlySet<string>} what the proxy speaks beyond protocol 3 */
    this.features = new Set();
    /** @type {Map<string, Session>} */
    this.sessions = new Map();
    /** @type {Map<string, { resolve(answer: any): void, reject(error: Error): void }>} */
    this.asked = new Map();
    this.pings = 0;
    /** How many tests keep the process alive. */
    this.held = 0;
    /** @type {Error | undefined} why the connection is not there any more */
    this.lost = undefined;
    this.thread = new Worker(require.resolve("./link-thread.js"), {
      workerData: { proxyUrl, hello: this.hello() },
      // The preloads and flags of the test runner are not for this thread.
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    /** @type {Promise<void>} settles when the proxy has let this worker in, or refused it */
    this.ready = this.listen();
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

  /** @returns {Promise<void>} */
  listen() {
    return new Promise((resolve, reject) => {
      this.thread.on("message", (/** @type {string | News} */ news) => {
        if (typeof news === "string") return this.receive(JSON.parse(news));
        if (news.up) {
          this.features = new Set(news.up.features);
          return resolve();
        }
        this.end(new ConnectionError(news.down ?? ""));
        reject(this.lost);
      });
      this.thread.on("error", (error) => {
        this.end(new ConnectionError(`the connection's thread failed: ${error.message}`, { cause: error }));
        reject(this.lost);
      });
    });
  }

  /** @param {Error} error why nothing will come any more */
  end(error) {
    if (this.lost) return;
    this.lost = error;
    for (const { reject } of this.asked.values()) reject(error);
    this.asked.clear();
    for (const session of this.sessions.values()) session.connectionLost(error);
  }

  /**
   * @param {object} message
   * @throws {ConnectionError} there is no connection
   */
  send(message) {
    if (this.lost) throw new ConnectionError(this.lost.message);
    this.thread.postMessage(JSON.stringify(message));
  }

  /**
   * Send a message that is answered.
   *
   * @param {string} key of the answer: the type and the id
   * @param {object} message
   * @returns {Promise<any>} the answer
   */
  ask(key, message) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.asked.delete(key);
        const what = `the trafficmock proxy did not answer ${key.split(" ")[0]} within ${this.ackMs} ms`;
        reject(new ConnectionError(`${what}; TRAFFICMOCK_ACK_TIMEOUT_MS allows more time`));
      }, this.ackMs);
      this.asked.set(key, {
        resolve: (answer) => (clearTimeout(timer), resolve(answer)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      });
      this.send(message);
    });
  }

  /**
   * Fail the questions about a test: the proxy answers those that it refuses with an error of the test.
   *
   * @param {string} testId
   * @param {Error} error
   * @returns {boolean} whether there was one
   */
  refuse(testId, error) {
    const keys = ["test:register", "test:strict"]
      .map((type) => `${type} ${testId}`)
      .filter((key) => this.asked.has(key));
    for (const key of keys) this.asked.get(key)?.reject(error);
    for (const key of keys) this.asked.delete(key);
    return keys.length > 0;
  }

  /** Wait until everything is heard that the proxy said before now. */
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
   * Refuse what no test owns, as long as this connection lives.
   * @param {readonly string[]} allow patterns of what may leave
   */
  async refuseUnowned(allow) {
    this.needStrict();
    const { error } = await this.query({ type: "run:strict", allow });
    if (error) throw new UsageError(error);
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

  /** @param {any} message of the proxy */
  receive(message) {
    const { testId } = message;
    const answered = ANSWERS[message.type];
    if (answered) {
      const key = answered(message);
      this.asked.get(key)?.resolve(message);
      this.asked.delete(key);
    } else if (message.type === "request:matched" || message.type === "ws:matched") {
      this.sessions.get(testId)?.receive(message);
    } else {
      // What names a test is for that test; the rest is for all of this worker.
      for (const session of [...this.sessions.values()]) {
        if (testId === undefined || testId === session.id) session.receive(message);
      }
    }
  }

  /** Keep the process alive for a test that is under way. */
  hold() {
    this.held += 1;
    this.thread.ref();
  }

  /** The counterpart of `hold`: a connection that no test uses does not keep the process alive. */
  release() {
    this.held -= 1;
    if (this.held === 0) this.thread.unref();
  }

  /** Close the connection. */
  async close() {
    if (!this.lost) this.thread.postMessage(null);
    this.end(new ConnectionError("the connection was closed"));
    await new Promise((resolve) => this.thread.once("exit", resolve));
  }
}

module.exports = { WorkerConnection };
