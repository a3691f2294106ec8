"use strict";

const { checked } = require("./arguments/options.js");
const { WorkerConnection } = require("./connection/worker-connection.js");
const { TrafficMock, viewsOf } = require("./objects/traffic-mock.js");
const { ConnectionError, UsageError } = require("./errors.js");
const { guarded } = require("./report/guard.js");
const { currentJestRun } = require("./report/jest-tests.js");
const { endsWithProcess } = require("./report/process-end.js");
const { recorder, reported } = require("./report/run-recorder.js");
const { callSite, raisedAt, shownPath } = require("./session/call-site.js");
const { checkRequired } = require("./session/required-routes.js");
const { Session } = require("./session/session.js");
const { beginAttaching, enter, ownAttachment } = require("./self-attachment.js");
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
 * Register a test with the proxy. In an attached process it is current from this call on, before anything is awaited: a
 * function that calls this one and waits for it goes on in the context of the test.
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
    attachSelf: isWanted,
    ...info
  } = checked("connect", options);
  const placeOf = callSite();
  const attachment = ownAttachment(isWanted, { proxyUrl, token });
  const connection = connectionTo({ proxyUrl, token, workerId });
  connection.hold();
  const session = new Session(connection, { title, file: shownPath(file), ...info }, viewsOf);
  try {
    // The connection is that of all tests, so it is opened before this one is current.
    enter(session, attachment);
    await connection.ready;
    await attachment?.ready;
    if (session.info.strict) await connection.watchUnowned();
    await session.start();
  } catch (error) {
    session.ownTest?.end();
    connection.release();
    // The connection may be that of several tests, and so may its error.
    throw error instanceof ConnectionError ? raisedAt(new ConnectionError(error.message), placeOf()) : error;
  }
  return new ConnectedTrafficMock(session);
}

/**
 * Attach this process for the tests that run in it, until `stop`.
 *
 * @param {import("../core.js").AttachSelfOptions} [options]
 * @returns {Promise<import("../core.js").SelfAttachment>}
 */
async function attachSelf(options) {
  const { proxyUrl = defaultProxyUrl(), token = defaultToken(), ...rest } = checked("attachSelf", options) ?? {};
  const attachment = beginAttaching({ proxyUrl: checkedProxyUrl(proxyUrl), token, ...rest });
  await attachment.ready;
  const { clientId } = attachment;
  return { clientId, stop: () => attachment.stop() };
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

  #startedAt = Date.now();
  #jestRun = currentJestRun();

  /** @param {Session} session */
  constructor(session) {
    super(session);
    this.#session = session;
  }

  /**
   * Run a function in which this test is current.
   *
   * @template T
   * @param {() => T} act
   * @returns {T} what it returns
   * @throws {UsageError} this process is not attached
   */
  run(act) {
    const { ownTest, registration } = this.#session;
    if (ownTest) return ownTest.run(act);
    if (registration.context) throw new UsageError("run: this process is not attached; connect({ attachSelf: true })");
    return act();
  }

  /**
   * End the test: remove its routes, and throw its errors.
   *
   * @param {import("../core.js").EndOptions} [options]
   * @returns {Promise<void>} the same promise for every call
   */
  end(options = {}) {
    this.#session.ownTest?.leave();
    this.#ended ??= this.#finish(checked("end", options));
    return this.#ended;
  }

  /** @param {import("../core.js").EndOptions} options */
  async #finish({ failed, error }) {
    const session = this.#session;
    const jestRun = failed === undefined ? this.#jestRun : undefined;
    try {
      /** @type {Error[]} whatever fails here, the test ends: its routes would serve later ones */
      const faults = [];
      const noted = (/** @type {Error} */ fault) => void faults.push(fault);
      await guarded("judge its routes", () => checkRequired(session), noted);
      session.passed = isPassed(failed ?? jestRun?.failed);
      const errors = await session.finish();
      await this.#report({ failed, error, errors, jestRun }).catch(noted);
      const isTold = session.info.strict && !session.connection.lost;
      if (isTold) await guarded("list the requests of no test", () => session.connection.tellUnowned(), noted);
      throwAll([...errors, ...faults]);
      for (const text of session.warnings) console.warn(`trafficmock, ${session.info.title}: ${text}`);
    } finally {
      session.connection.release();
    }
  }

  /** @param {{ failed?: boolean, error?: unknown, errors: Error[], jestRun: ReturnType<typeof currentJestRun> }} end */
  async #report({ failed, error, errors, jestRun }) {
    const session = this.#session;
    const startedAt = this.#startedAt;
    const hasErrors = errors.length > 0;
    if (jestRun) {
      // A wrong variable is an error of this call: one that Jest's event throws ends its whole file.
      const run = recorder("node", session.connection.workerId);
      await jestRun.whenDone(({ errors: known, ...end }) => {
        const whole = { ...end, failed: end.failed || hasErrors, errors: known.length ? known : errors, startedAt };
        return guarded(
          "report a test",
          () => report(session, whole),
          (fault) => run?.fail(fault),
        );
      });
    } else {
      await report(session, { failed: hasErrors || failed, errors: [error, ...errors], startedAt });
    }
  }
}

/** @param {boolean | undefined} failed */
const isPassed = (failed) => (failed === undefined ? undefined : !failed);

/**
 * Write a test into the report of the run, if there is one.
 *
 * @param {Session} session that has ended
 * @param {{ failed: boolean | undefined, errors: unknown[], startedAt: number, retry?: number }} end how it ended
 */
async function report(session, { failed, errors, ...end }) {
  const { connection, info } = session;
  const run = recorder("node", connection.workerId);
  if (!run) return;
  askAtEnd(run, connection);
  const outcome = failed === undefined ? "unknown" : failed ? "failed" : "passed";
  run.count(outcome, { isRetry: Boolean(end.retry) });
  run.addHars(session);
  if (!run.wants(failed)) {
    // The process may end without a further chance to ask for the totals.
    await run.addUnowned(connection, session.registration.startedAt);
    endsWithProcess(run, connection);
    return;
  }
  const texts = errors.flatMap((error) => (error === undefined ? [] : [textOf(error)]));
  const error = texts.join("\n\n");
  const found = await reported(session, error);
  await run.write(session, { title: info.title, file: info.file, outcome, ...(error && { error }), ...end }, found);
  endsWithProcess(run, connection);
}

/** @param {any} error @returns {string} */
const textOf = (error) => String(error?.stack ?? error?.message ?? error);

/** The runs that ask once more what no test owned. */
const asking = new WeakSet();

/**
 * @param {import("./report/run-recorder.js").RunRecorder} run
 * @param {WorkerConnection} connection
 */
function askAtEnd(run, connection) {
  if (asking.has(run)) return;
  asking.add(run);
  // The workers of some runners end without this event; their tests are in the report all the same.
  const ask = async () => {
    if (connection.lost) return;
    connection.hold();
    await run.addUnowned(connection);
    endsWithProcess(run, connection);
    connection.release();
  };
  process.once("beforeExit", () => guarded("report the requests of no test", ask, (fault) => run.fail(fault)));
}

module.exports = { attachSelf, connect };
