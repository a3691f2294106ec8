"use strict";

const { randomUUID } = require("node:crypto");
const { UNMATCHED } = require("trafficmock-agent/protocol/facts");
const { MixedContextError, RoutingError, TestEndedError, UsageError } = require("../errors.js");
const { HandlerFetches } = require("./handler-fetches.js");
const { HttpRoutes } = require("./http-routes.js");
const { ObservedTraffic } = require("./observed-traffic.js");
const { Registration } = require("./registration.js");
const { warnOfUnusedReplays } = require("./required-routes.js");
const sentContexts = require("./sent-contexts.js");
const { withoutFrames } = require("./call-site.js");
const { TestErrors } = require("./test-errors.js");
const { Waiters } = require("./waiters.js");
const { WebSocketRoutes } = require("./websocket-routes.js");
const { WrittenStreams } = require("./written-stream.js");

/** The codes of errors that are a wrong argument of a call. */
const USAGE = ["invalid_glob", "wrong_option"];

/**
 * @typedef {import("./request-state.js").RequestState} RequestState
 * @typedef {import("./response-state.js").ResponseState} ResponseState
 * @typedef {import("../connection/worker-connection.js").WorkerConnection} WorkerConnection
 * @typedef {ReturnType<import("../self-attachment.js").Attachment["begin"]>} OwnTest
 *
 * @typedef {object} TestInfo the name and the settings of a test
 * @property {string} title
 * @property {string} file
 * @property {string} [baseURL] the URL that relative globs are resolved against
 * @property {"auto" | "off" | "required"} [isolation] whether the test has a context; with `required`, a
 *   matching request without it fails the test
 * @property {string[]} [origins] globs of the application's origins
 * @property {boolean} [hostsUnderTest] whether loopback and the other hosts under test are the application too
 * @property {boolean} [strict] whether requests that no route matches are refused
 * @property {boolean} [required] whether the test fails if no request meets one of its routes
 * @property {readonly import("../../index.js").Allowed[]} [allow] what strict mode lets through
 * @property {"worker" | "run"} [shared] its routes serve all tests of this worker, after their own; or of the run
 * @property {boolean} [hasBrowser] whether the service opens a proxy for the browser of this test
 *
 * @typedef {object} Decided a request that the test has answered
 * @property {RequestState} state
 * @property {import("./http-routes.js").RouteEntry} entry the route
 * @property {string} [decision] what the proxy did by a fixed response; else a handler runs
 * @property {Promise<unknown>} [ran] settled when the handler has decided or given up
 *
 * @typedef {object} HarUse
 * @property {number} entries how many there are
 * @property {Set<number>} used the numbers, from 1, of those that have answered, or were recorded
 *
 * @typedef {object} Views makes the objects that tests get
 * @property {(state: RequestState) => any} request always the same one
 * @property {(state: ResponseState) => any} response always the same one
 * @property {(routed: import("./routed-request.js").RoutedRequest) => any} route
 * @property {(side: import("./mocked-websocket.js").WebSocketSide) => any} webSocketRoute always the same one
 * @property {(view: any) => ResponseState | undefined} stateOf returns the state of a test's response
 */

/** One test as the protocol knows it: its routes, its traffic, its waits and its errors. */
class Session {
  /**
   * @param {WorkerConnection} connection
   * @param {TestInfo} info
   * @param {(session: Session) => Views} viewsOf
   */
  constructor(connection, info, viewsOf) {
    this.connection = connection;
    this.info = info;
    this.views = viewsOf(this);
    this.id = randomUUID();
    this.baseURL = info.baseURL;
    this.registration = new Registration(connection, this.id, info);
    this.http = new HttpRoutes(this);
    this.sockets = new WebSocketRoutes(this);
    this.traffic = new ObservedTraffic();
    this.waiters = new Waiters(this);
    this.fetches = new HandlerFetches();
    this.streams = new WrittenStreams();
    this.errors = new TestErrors();
    /** @type {string[]} what the proxy warned of */
    this.warnings = [];
    /** @type {Map<string, HarUse>} what it has used of HARs, by the absolute path of the file */
    this.hars = new Map();
    /** @type {(() => unknown)[]} functions that are called at the end, before the test is unregistered */
    this.finishing = [];
    this.isEnded = false;
    /** @type {boolean | undefined} the result of the test, which its runner sets before `finish` */
    this.passed = undefined;
    /** @type {OwnTest | undefined} the test as the agent of this process has it */
    this.ownTest = undefined;
    /** @type {import("trafficmock-agent/self").SelfAttachment | undefined} that of this process, in which the test runs */
    this.attachment = undefined;
    /** @type {((decided: Decided) => void) | undefined} is told of each request that the test answers */
    this.onAnswer = undefined;
    /** @type {((refusal: any) => void) | undefined} is told of each `proxy:error` about a request that strict mode refused */
    this.onRefused = undefined;
  }

  /** @param {object} message */
  send(message) {
    this.connection.send(message);
  }

  /**
   * Return what the test has used of a HAR so far.
   *
   * @param {string} file its absolute path
   * @param {number} entries the number of its entries now
   * @returns {HarUse}
   */
  useOf(file, entries) {
    const use = { used: this.hars.get(file)?.used ?? new Set(), entries };
    this.hars.set(file, use);
    return use;
  }

  // Begin and end

  /** Note that the code of the test runs: it calls its mocks. */
  noteCall() {
    // A handler is called in the midst of all tests' messages.
    if (!this.connection.isReceiving) this.ownTest?.claim();
  }

  /** Note from now on to which servers clients of the test send its context. */
  watchClients() {
    const { context } = this.registration;
    if (context && !this.isEnded) sentContexts.watch(context);
  }

  /** @returns {object | undefined} the servers to which clients of the test sent its context */
  #called() {
    const { origins: named = [], hostsUnderTest = false } = this.info;
    const origins = sentContexts.take(this.registration.context);
    if (origins.length === 0) return undefined;
    return { origins, application: { origins: named, hostsUnderTest }, attached: this.ownTest !== undefined };
  }

  /** Begin the test: register it, so that it gets messages. */
  async start() {
    const { sessions } = this.connection;
    sessions.set(this.id, this);
    try {
      await this.registration.register();
    } catch (error) {
      sessions.delete(this.id);
      throw error;
    }
  }

  /** @returns {Promise<Error[]>} the errors that the test has not taken */
  async finish() {
    for (const task of this.finishing) {
      await Promise.resolve()
        .then(task)
        .catch((error) => this.errors.add(error));
    }
    const passed = this.passed && this.errors.count === 0;
    if (this.errors.count === 0) warnOfUnusedReplays(this);
    await Promise.resolve()
      .then(() => this.registration.unregister(passed, this.#called()))
      .catch((error) => this.errors.add(error));
    this.isEnded = true;
    this.ownTest?.end();
    this.connection.sessions.delete(this.id);
    this.stopWaiting();
    return this.errors.take();
  }

  /** @param {Error} [error] with which waits and fetches fail; by default the test has ended */
  stopWaiting(error) {
    this.waiters.end(error);
    this.fetches.end(error);
    this.streams.end(error);
    for (const state of this.traffic.requests.values()) {
      if (state.response === undefined) {
        state.reject?.(error ?? new TestEndedError("the test ended while waiting for the response"));
      }
    }
  }

  /** @param {Error} error */
  connectionLost(error) {
    this.stopWaiting(error);
  }

  /**
   * Act when the proxy has read the globs of routes; at once, if this process can test them.
   *
   * @param {readonly import("./http-routes.js").RouteEntry[]} entries
   * @param {() => void} act
   */
  whenRead(entries, act) {
    const unread = entries.filter(({ matcher }) => !matcher.isRead);
    if (unread.length === 0) return act();
    const read = Promise.all(unread.map(({ matcher }) => matcher.read(this.connection)));
    read.then(act).catch((error) => this.errors.add(error));
  }

  /** @returns {Promise<RequestState[]>} all requests since the test began, oldest first */
  async requests() {
    // Messages that the proxy sent before come before its answer.
    await this.connection.barrier();
    return [...this.traffic.requests.values()];
  }

  // Messages

  /** @param {any} message of the proxy, for this test or for all of its worker */
  receive(message) {
    switch (message.type) {
      case "request:observed":
        return void this.traffic.observe(message);
      case "handler:run":
        return this.http.run(message);
      case "request:replied":
        return this.http.replied(message);
      case "route:expired":
        return this.http.expired(message);
      case "wait:judge":
        return void this.waiters.judge(message);
      case "request:claim":
        return this.http.claimed(message);
      case "request:response":
        return this.responded(message);
      case "fetch:done":
        return this.fetches.done(message);
      case "stream:ack":
      case "stream:closed":
        return this.streams.receive(message);
      case "ws:claim":
        return this.sockets.claimed(message);
      case "ws:matched":
        return void this.sockets.matched(message);
      case "ws:messageFromPage":
      case "ws:messageFromServer":
      case "ws:closePage":
      case "ws:closeServer":
        return this.sockets.receive(message);
      case "door:untagged":
        return void this.errors.untagged.add(message.origin);
      case "test:warning":
        return this.warned(message);
      case "proxy:error":
        return this.proxyError(message);
    }
  }

  /** @param {any} message `request:response`, with the end of a request */
  responded({ requestId, ok, response: wire }) {
    const state = this.traffic.requests.get(requestId);
    if (!state) return;
    if (ok && wire) this.traffic.respond(state, wire);
    else state.answer(null);
  }

  /** @param {{ code: string, message: string }} warning of the proxy, which fails no test but one that requires its context */
  warned({ code, message }) {
    if (code === "mixed_context" && this.info.isolation === "required") {
      this.errors.add(withoutFrames(new MixedContextError(message)));
    } else this.warnings.push(message);
  }

  /** @param {any} message */
  proxyError(message) {
    const { code, detail, routeId } = message;
    if (code === UNMATCHED) this.onRefused?.(message);
    const refused = USAGE.includes(code)
      ? new UsageError(message.message)
      : new RoutingError(message.message, { code, detail });
    if (routeId && this.connection.refuseRoute(routeId, refused)) return;
    const isRefusal =
      message.code === "invalid_message" && this.connection.refuse(this.id, new UsageError(message.message));
    if (!isRefusal) this.errors.toldByProxy(message);
  }
}

module.exports = { Session };
