"use strict";

const { randomUUID } = require("node:crypto");
const { FILES_MS } = require("trafficmock-agent/protocol/facts");
const { Link } = require("trafficmock-agent/protocol/link");
const { version } = require("../../package.json");
const { readAllowed } = require("../arguments/allowed.js");
const { ConnectionError, UsageError } = require("../errors.js");
const { withoutFrames } = require("../session/call-site.js");
const { beginTurn } = require("../session/proxy-clock.js");
const { ackTimeoutMs, addedSecrets } = require("../settings.js");
const { Liveness } = require("./liveness.js");
const { Questions } = require("./questions.js");
const { runAgeMs } = require("./run-age.js");
const { frameworksText, unownedText } = require("./unowned-text.js");

/**
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("../../index.js").Allowed} Allowed
 */

/**
 * The features of a worker beyond protocol 3, which the proxy must have. `subscribe` is not used: a test begins a wait without awaiting it, and
 * the request that it causes next could come before the subscription.
 */
const FEATURES = ["chain", "clock", "context", "shown-urls", "strict", "warnings"];

/** Why a query of the history has no answer. */
const TOO_LARGE = "the values for the functions are too large for one answer: filter requests() in the test";

/** The most bytes of data in one message. */
const PART_BYTES = 2 ** 20;

/** One connection to the proxy; every test on it is a session. */
class WorkerConnection {
  /** @type {Promise<unknown> | undefined} the first question for what no test owns */
  #watched;

  /**
   * @param {{ proxyUrl: string, token?: string, workerId?: string }} options
   */
  constructor({ proxyUrl, token, workerId = "0" }) {
    this.proxyUrl = proxyUrl;
    this.token = token;
    this.workerId = workerId;
    /** @type {Map<string, Session>} */
    this.sessions = new Map();
    this.questions = new Questions(ackTimeoutMs());
    /** @type {Map<string, Map<string, Buffer[]>>} the pieces of files that are coming, by query and file */
    this.recordings = new Map();
    this.pings = 0;
    /** The number of tests that keep the process alive. */
    this.users = 0;
    /** Whether a message is being handled. */
    this.isReceiving = false;
    /** @type {Error | undefined} why the connection is lost */
    this.lost = undefined;
    /** @type {Liveness | undefined} answers pings while this thread is blocked */
    this.liveness = undefined;
    /** Whether the run is strict by this connection. */
    this.strictRun = false;
    /** @type {(error?: Error) => void} */
    this.settle = () => {};
    /** @type {Promise<void>} settled when the proxy has accepted or refused this worker */
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
   * @throws {ConnectionError} no proxy answers, or it refuses this worker
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
      redact: addedSecrets(),
      pid: process.pid,
    };
  }

  /** @param {{ connectionId: string }} hello of the proxy */
  up({ connectionId }) {
    this.liveness = new Liveness(this.proxyUrl, { ...this.hello(), livenessOf: connectionId });
    this.settle();
  }

  /** @param {Error} error why the proxy cannot be reached, or why the connection was lost */
  down(error) {
    // A worker's tests end with its connection (protocol 3), so no other connection is opened for them.
    this.link.close();
    this.fail(withoutFrames(new ConnectionError(explained(error, this.proxyUrl))));
    this.settle(this.lost);
  }

  /** @param {Error} error with which all that waits for messages fails */
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
   * Send a message and wait for its answer.
   *
   * @param {string} key of the answer: the type and the id
   * @param {object} message
   * @param {number} [beyond] as in `Questions.answerTo`
   * @returns {Promise<any>} the answer
   * @throws {ConnectionError} there is no connection, or no answer within the time limit
   */
  async ask(key, message, beyond) {
    this.send(message);
    return this.questions.answerTo(key, beyond);
  }

  /**
   * Fail the open questions about a test, which the proxy has refused by an error of the test.
   *
   * @param {string} testId
   * @param {Error} error
   * @returns {boolean} whether a question was open
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
   * @returns {boolean} whether the registration was open
   */
  refuseRoute(routeId, error) {
    return this.questions.reject(`route:register ${routeId}`, error);
  }

  /** Wait until all messages that the proxy has sent so far are handled. */
  async barrier() {
    this.pings += 1;
    await this.ask(`ping ${this.pings}`, { type: "ping", at: this.pings });
  }

  /**
   * Send a query, whose answer has its id.
   * @param {object} message
   */
  query(message) {
    const queryId = randomUUID();
    return this.ask(`query ${queryId}`, { ...message, queryId });
  }

  /**
   * Get what a route has recorded (docs/protocol/reply.md).
   *
   * @param {{ testId: string, routeId: string }} route
   * @returns {Promise<{ entries: any[], files: Map<string, Buffer> }>} the entries, and the files of their bodies
   * @throws {UsageError} a word of `redact` is no field
   */
  async recording(route) {
    const { "": text, ...files } = await this.#files({ type: "recording:query", ...route });
    return { entries: JSON.parse(String(text)), files: new Map(Object.entries(files)) };
  }

  /**
   * Have the files of a report made (docs/protocol/additions.md#report).
   *
   * @param {Iterable<Buffer>} data the lines of data files
   * @returns {Promise<Record<string, Buffer>>} the contents by name
   * @throws {UsageError} the data is of another version, or too large
   */
  async report(data) {
    const queryId = randomUUID();
    for (const content of data) {
      for (let at = 0; at < content.length; at += PART_BYTES) {
        const bodyBase64 = content.subarray(at, at + PART_BYTES).toString("base64");
        await this.#files({ type: "report:make", bodyBase64, more: true }, queryId);
      }
    }
    return this.#files({ type: "report:make", bodyBase64: null }, queryId);
  }

  /**
   * @param {object} query that is answered by the pieces of files
   * @param {string} [queryId]
   * @returns {Promise<Record<string, Buffer>>} the contents by name
   * @throws {UsageError} there are none
   */
  async #files(query, queryId = randomUUID()) {
    /** @type {Map<string, Buffer[]>} */
    const pieces = new Map();
    this.recordings.set(queryId, pieces);
    const asked = this.ask(`query ${queryId}`, { ...query, queryId }, FILES_MS);
    const { error } = await asked.finally(() => this.recordings.delete(queryId));
    if (error) throw new UsageError(error);
    // The proxy may be on another machine, and says what this one writes.
    const outside = [...pieces.keys()].find((name) => /[/\\]/.test(name));
    if (outside) throw new UsageError(`the proxy names a file in another directory: ${JSON.stringify(outside)}`);
    return Object.fromEntries([...pieces].map(([name, each]) => [name, Buffer.concat(each)]));
  }

  /**
   * @param {import("../arguments/matcher.js").SerializedMatcher} matcher of requests of the history
   * @returns {Promise<Map<string, import("../arguments/value-checks.js").PlacedValues[] | undefined>>} the values for the
   *   functions of the matcher, by request id
   * @throws {UsageError} the values are too large for one answer
   */
  async recordedValues(matcher) {
    const { entries, values, truncated } = await this.query({ type: "history:query", matcher, onlyIds: true });
    if (truncated) throw new UsageError(TOO_LARGE);
    return new Map(entries.map((/** @type {{ id: string }} */ { id }, /** @type {number} */ at) => [id, values?.[at]]));
  }

  /**
   * Ask for marks in place of secrets, before something is written (docs/protocol/additions.md).
   *
   * @param {{ texts?: readonly string[], redact?: readonly string[] }} asked
   * @returns {Promise<{ texts: string[], error?: string }>}
   */
  redacted(asked) {
    return this.query({ type: "redact:query", ...asked });
  }

  /**
   * Make the run strict: refuse requests that no test owns, until this connection is closed.
   * @param {readonly Allowed[]} allow what is let through
   * @throws {UsageError} a pattern is invalid
   */
  async refuseUnowned(allow) {
    const { error } = await this.query({ type: "run:strict", allow: readAllowed(allow), ageMs: runAgeMs() });
    if (error) throw new UsageError(error);
    this.strictRun = true;
    await this.watchUnowned();
  }

  /**
   * Ask for the refused requests that no test owns; `noApplication` is the error of a run without an application.
   *
   * @param {{ tell?: boolean }} [how] `tell`: only those of which no worker has told yet, because this one does
   * @returns {Promise<import("./unowned-text.js").Unmatched & { noApplication?: string }>}
   */
  unmatched({ tell } = {}) {
    return this.query({ type: "run:unmatched:query", ageMs: runAgeMs(), ...(tell && { tell }) });
  }

  /** Let the proxy keep the list of what no test owns until this connection is closed. */
  watchUnowned() {
    this.#watched ??= this.unmatched();
    return this.#watched;
  }

  /** Write on stderr what strict mode has refused and no test owns, unless another worker has done it. */
  async tellUnowned() {
    const unmatched = await this.unmatched({ tell: true });
    const texts = [frameworksText(unmatched), unownedText(unmatched)].filter(Boolean);
    if (texts.length) process.stderr.write(`${texts.join("\n")}\n`);
  }

  /** @param {string} text a message of the proxy */
  message(text) {
    beginTurn();
    if (this.lost) return;
    this.isReceiving = true;
    try {
      this.#receive(JSON.parse(text));
    } finally {
      this.isReceiving = false;
    }
  }

  /** @param {any} message of the proxy */
  #receive(message) {
    const { testId } = message;
    if (message.type === "recording:piece" && !message.done) {
      const { queryId, file = "", bodyBase64 } = message;
      const files = this.recordings.get(queryId);
      files?.set(file, [...(files.get(file) ?? []), Buffer.from(bodyBase64, "base64")]);
      return;
    }
    if (this.questions.answered(message)) return;
    if (message.type === "handler:run" || message.type === "ws:matched") {
      this.sessions.get(testId)?.receive(message);
    } else {
      // A message with a test id is for that test, any other for all tests of this worker.
      for (const session of [...this.sessions.values()]) {
        if (testId === undefined || testId === session.id) session.receive(message);
      }
    }
  }

  /**
   * @param {string} routeId
   * @returns {import("../session/http-routes.js").RouteEntry | undefined} the HTTP route of any test of this worker
   */
  route(routeId) {
    for (const { http } of this.sessions.values()) {
      const entry = http.known.get(routeId);
      if (entry) return entry;
    }
    return undefined;
  }

  /** Keep the process alive for a test. */
  hold() {
    this.users += 1;
    this.link.hold();
  }

  /** Undo one `hold`: a connection without tests does not keep the process alive. */
  release() {
    this.users -= 1;
    if (this.users === 0) this.link.release();
  }

  /** Close the connection. */
  close() {
    // Playwright starts another worker after a failed test. Until then the run stays strict if the connection counts as
    // lost.
    if (this.strictRun) this.link.drop();
    else this.link.close();
    this.fail(new ConnectionError("the connection was closed"));
  }
}

/** Statuses by which a proxy refuses the handshake of a WebSocket: host, origin, peer or load. */
const REFUSALS = ["401", "403", "421", "429", "503"];

/**
 * @param {Error} error
 * @param {string} proxyUrl
 * @returns {string} its message; if another service has answered, what to do
 */
function explained({ message, cause }, proxyUrl) {
  const reason = cause instanceof Error ? cause.message : "";
  const status = /^Unexpected server response: (\d+)$/.exec(reason)?.[1];
  if (!(status && !REFUSALS.includes(status)) && !reason.startsWith("Parse Error")) return message;
  const said = status ? ` (it answered /ws with status ${status})` : " (it does not speak HTTP)";
  return (
    `What answers at ${proxyUrl} is no trafficmock proxy${said}. Another service has the port: give the proxy another one ` +
    'by proxyServer({ proxyUrl: "http://127.0.0.1:4311" }) in playwright.config, or by TRAFFICMOCK_PROXY_URL.'
  );
}

module.exports = { WorkerConnection };
