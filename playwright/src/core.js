"use strict";

const { checked } = require("./arguments/options.js");
const { WorkerConnection } = require("./connection/worker-connection.js");
const { TrafficMock, viewsOf } = require("./objects/traffic-mock.js");
const { ConnectionError } = require("./errors.js");
const { callSite, raisedAt } = require("./session/call-site.js");
const { checkRequired } = require("./session/required-routes.js");
const { Session } = require("./session/session.js");
const { checkedProxyUrl, defaultProxyUrl, defaultToken } = require("./settings.js");
const { throwAll } = require("./session/test-errors.js");

/**
 * Tests without Playwright: for Vitest, Node's own runner and scripts.
 *
 * @typedef {import("../core.js").ConnectOptions} ConnectOptions
 */

/** The connections of this process by proxy, token and worker id; its tests share them. */
/** @type {Map<string, WorkerConnection>} */
const connections = new Map();

/**
 * Register a test with the proxy.
 *
 * @param {ConnectOptions} options
 * @returns {Promise<import("../core.js").ConnectedTrafficMock>}
 */
async function connect(options) {
  const {
    title,
    file = "",
    proxyUrl = defaultProxyUrl(),
    token = defaultToken(),
    workerId = process.env.VITEST_WORKER_ID ?? "0",
    ...info
  } = checked("connect", options);
  const placeOf = callSite();
  const connection = connectionTo({ proxyUrl, token, workerId });
  connection.hold();
  const session = new Session(connection, { title, file, ...info }, viewsOf);
  try {
    await connection.ready;
    await session.start();
  } catch (error) {
    connection.release();
    // The connection may be that of several tests, and so may its error.
    throw error instanceof ConnectionError ? raisedAt(new ConnectionError(error.message), placeOf()) : error;
  }
  return new ConnectedTrafficMock(session);
}

/**
 * @param {{ proxyUrl: string, token?: string, workerId: string }} options
 * @returns {WorkerConnection} the connection that this process has, else one that is being opened
 */
function connectionTo({ proxyUrl, token, workerId }) {
  const key = JSON.stringify([proxyUrl, token, workerId]);
  const known = connections.get(key);
  if (known && !known.lost) return known;
  const opened = new WorkerConnection({ proxyUrl: checkedProxyUrl(proxyUrl), token, workerId });
  connections.set(key, opened);
  return opened;
}

/** The calls of a test that is ended by `end`, not by a fixture. */
class ConnectedTrafficMock extends TrafficMock {
  #session;
  /** @type {Promise<void> | undefined} */
  #ended;

  /** @param {Session} session */
  constructor(session) {
    super(session);
    this.#session = session;
  }

  /**
   * End the test: remove its routes, and throw its errors.
   * @returns {Promise<void>} the same promise for every call
   */
  end() {
    this.#ended ??= this.#finish();
    return this.#ended;
  }

  async #finish() {
    await checkRequired(this.#session);
    const errors = await this.#session.finish();
    this.#session.connection.release();
    throwAll(errors);
  }
}

module.exports = { connect };
