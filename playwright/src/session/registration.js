"use strict";

const { newId } = require("trafficmock-agent/protocol/ids");
const { readAllowed } = require("../arguments/allowed.js");
const { UsageError } = require("../errors.js");
const { raisedAt, written } = require("./call-site.js");
const { ProxyClock, now } = require("./proxy-clock.js");

/**
 * @typedef {import("../connection/worker-connection.js").WorkerConnection} WorkerConnection
 * @typedef {import("./session.js").TestInfo} TestInfo
 * @typedef {import("../../index.js").Allowed} Allowed
 */

/**
 * The registration of one test with the proxy: its context, the port of its browser's proxy and its routes.
 * Each call is resolved when the proxy has acknowledged it.
 */
class Registration {
  /**
   * @param {WorkerConnection} connection
   * @param {string} testId
   * @param {TestInfo} info
   */
  constructor(connection, testId, info) {
    this.connection = connection;
    this.testId = testId;
    this.info = info;
    /** @type {string | undefined} the id that the test's requests carry, 32 hexadecimal digits */
    this.context = info.isolation === "off" ? undefined : newId() + newId();
    /** @type {number | undefined} the port of the proxy for the browser of this test */
    this.browserProxyPort = undefined;
    /** @type {string | undefined} why there is none, although the test has a browser */
    this.browserProxyError = undefined;
    /** @type {number | undefined} the time of the registration, by the proxy's clock; epoch ms */
    this.startedAt = undefined;
    /** @type {ProxyClock | undefined} */
    this.clock = undefined;
  }

  /** Register the test; afterwards it counts for all later requests. */
  async register() {
    const { testId, info, connection } = this;
    const { shared } = info;
    const asked = now();
    const answer = await connection.ask(`test:register ${testId}`, {
      type: "test:register",
      testId,
      title: info.title,
      file: info.file,
      workerId: connection.workerId,
      ...(this.context && { context: this.context }),
      ...(info.strict && { strict: { allow: readAllowed(info.allow ?? []) } }),
      ...(shared && { scope: shared }),
      ...(this.context && info.hasBrowser && { door: { origins: info.origins, hostsUnderTest: info.hostsUnderTest } }),
    });
    this.clock = new ProxyClock(answer.clock, { asked, answered: now() });
    this.startedAt = answer.at;
    this.browserProxyPort = answer.doorPort;
    this.browserProxyError = answer.doorError;
  }

  /**
   * Ask what came to the test, and what came instead of what its routes are for (docs/protocol/additions.md).
   *
   * @param {object} asked
   * @param {{ entry: import("./http-routes.js").RouteEntry, text: string, ownProcess: boolean }[]} asked.unmet
   * @param {Record<string, string>} asked.routes
   * @param {Record<string, string>} asked.decisions
   * @param {boolean} asked.onlyUnmet
   * @returns {Promise<string>} lines
   */
  async diagnosis({ unmet, ...asked }) {
    const { connection, testId, startedAt: since } = this;
    const routes = unmet.map(({ entry: { id: routeId, matcher, began }, ...said }) => ({
      ...{ routeId, matcher: matcher.wire, since: this.#proxyTime(began) },
      ...said,
    }));
    const { text } = await connection.query({ type: "diagnosis:query", testId, since, unmet: routes, ...asked });
    return text;
  }

  /**
   * Unregister the test and its routes; afterwards it gets no messages.
   * @param {boolean} [passed] the result of the test, where it is known
   * @param {object} [called] the servers to which clients of the test sent its context
   */
  unregister(passed, called) {
    const { testId } = this;
    const message = {
      type: "test:unregister",
      testId,
      ...(passed !== undefined && { passed }),
      ...(called && { called }),
    };
    return this.connection.ask(`test:unregister ${testId}`, message);
  }

  /** @param {import("./http-routes.js").RouteEntry} entry */
  async addRoute({ id: routeId, matcher, placeOf, answers, stream, times }) {
    const asked = this.connection.ask(`route:register ${routeId}`, {
      type: "route:register",
      routeId,
      testId: this.testId,
      matcher: matcher.wire,
      ...(matcher.kind === "websocket" && { kind: matcher.kind }),
      ...placed(placeOf()),
      ...answers,
      ...(stream && { stream }),
      ...(times !== undefined && { times }),
    });
    return asked.catch((error) => {
      throw error instanceof UsageError ? raisedAt(error, placeOf()) : error;
    });
  }

  /** @param {string} routeId */
  removeRoute(routeId) {
    return this.connection.ask(`route:unregister ${routeId}`, { type: "route:unregister", routeId });
  }

  /**
   * Remove all HTTP routes of the test.
   * @param {import("./http-routes.js").Behavior} behavior for handlers that still run
   */
  removeRoutes(behavior) {
    const { testId } = this;
    return this.connection.ask(`route:unregister ${testId}`, { type: "route:unregister", testId, behavior });
  }

  /**
   * Refuse the requests that no route of this test matches, from now on.
   * @param {readonly Allowed[] | undefined} allow what is let through; `undefined` ends strict mode
   * @throws {UsageError} a pattern is invalid
   */
  async setStrict(allow) {
    const { connection, testId } = this;
    await connection.ask(`test:strict ${testId}`, {
      type: "test:strict",
      testId,
      ...(allow && { allow: readAllowed(allow) }),
    });
    this.info.strict = allow !== undefined;
  }

  /**
   * @param {number} moment by the clock of this process, in microseconds
   * @returns {number | undefined} by the proxy's clock, in epoch ms; of a proxy on another machine
   *   early by the time that its answer took
   */
  #proxyTime(moment) {
    if (this.startedAt === undefined || !this.clock) return undefined;
    return this.startedAt + Math.floor(this.clock.elapsed(moment) / 1000);
  }
}

/** @param {import("./call-site.js").Location | undefined} place */
const placed = (place) => (place ? { place: written(place) } : {});

module.exports = { Registration };
