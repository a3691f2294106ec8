"use strict";

const { randomBytes, randomUUID } = require("node:crypto");
const { RoutingError, TestEndedError, UsageError } = require("../errors.js");
const { withoutOwnFrames, written } = require("./call-site.js");
const { HandlerFetches } = require("./handler-fetches.js");
const { HttpRoutes } = require("./http-routes.js");
const { ObservedTraffic } = require("./observed-traffic.js");
const { Waiters } = require("./waiters.js");
const { WebSocketRoutes } = require("./websocket-routes.js");

/**
 * @typedef {import("./request-state.js").RequestState} RequestState
 * @typedef {import("./response-state.js").ResponseState} ResponseState
 * @typedef {import("../connection/worker-connection.js").WorkerConnection} WorkerConnection
 *
 * @typedef {object} TestInfo how a test is called where it is named to people
 * @property {string} title
 * @property {string} file
 * @property {string} [baseURL] for relative globs
 * @property {"auto" | "off" | "required"} [isolation]
 * @property {string[]} [origins] globs of the application's origins
 * @property {boolean} [strict] whether what no route wants is refused
 * @property {readonly string[]} [allow] patterns of what may leave all the same
 * @property {boolean} [isShared] its routes serve all tests of this worker, after their own
 * @property {boolean} [hasBrowser] the proxy opens a port for the browser of this test
 *
 * @typedef {object} HistoryEntry what the history has of a request, as far as a report has use for it
 * @property {string} id
 * @property {number} timestamp when it began; epoch ms
 * @property {number} [durationMs]
 * @property {{ kind: string, code?: string }} outcome
 * @property {string} [testId] the test that owned it, or whose context it carries
 * @property {string} [title] of that test
 * @property {string} [path] of that test's file
 *
 * @typedef {object} Views makes what tests see of requests, responses, routes and sockets
 * @property {(state: RequestState) => any} request
 * @property {(state: ResponseState) => any} response
 * @property {(routed: import("./routed-request.js").RoutedRequest) => any} route
 * @property {(side: import("./mocked-websocket.js").WebSocketSide) => any} webSocketRoute
 * @property {(view: any) => ResponseState | undefined} stateOf
 * @property {(view: any) => import("./routed-request.js").RoutedRequest} routedOf
 */

/** One test: its routes, what it saw, what it waits for, and what went wrong. */
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
    this.http = new HttpRoutes(this);
    this.sockets = new WebSocketRoutes(this);
    this.traffic = new ObservedTraffic();
    this.waiters = new Waiters(this);
    this.fetches = new HandlerFetches();
    /** @type {Error[]} */
    this.errors = [];
    /** @type {(() => unknown)[]} called at the end, before the test is unregistered */
    this.finishing = [];
    this.isEnded = false;
    /** @type {string | undefined} what the test's traffic carries */
    this.context = undefined;
    /** @type {number | undefined} of the forward proxy for the browser of this test */
    this.doorPort = undefined;
    /** @type {number | undefined} when the test began, by the proxy's clock; epoch ms */
    this.startedAt = undefined;
    /** Whether a request came with the test's context. */
    this.isTagged = false;
  }

  /** @param {object} message */
  send(message) {
    this.connection.send(message);
  }

  // Begin and end

  /** Register the test; settles when every later request is judged with it in mind. */
  async start() {
    const { id: testId, info, connection } = this;
    this.context = this.newContext();
    if (info.strict) connection.needStrict();
    connection.sessions.set(testId, this);
    try {
      const answer = await connection.ask(`test:register ${testId}`, {
        type: "test:register",
        testId,
        title: info.title,
        file: info.file,
        workerId: connection.workerId,
        ...(this.context && { context: this.context }),
        ...(info.strict && { strict: { allow: info.allow ?? [] } }),
        ...(info.isShared && { scope: "worker" }),
        ...(this.context && info.hasBrowser && { door: { origins: info.origins } }),
      });
      this.startedAt = answer.at;
      this.doorPort = answer.doorPort;
    } catch (error) {
      connection.sessions.delete(testId);
      throw error;
    }
  }

  newContext() {
    const { isolation = "auto", isShared } = this.info;
    if (this.connection.features.has("context")) {
      return isolation === "off" ? undefined : randomBytes(16).toString("hex");
    }
    if (isolation === "required" || isShared) {
      const what = isShared ? "shared routes are" : "isolation is";
      throw new UsageError(`${what} asked for, and the proxy at ${this.connection.proxyUrl} knows no contexts`);
    }
    return undefined;
  }

  /**
   * Unregister the test.
   * @returns {Promise<Error[]>} the errors that are left
   */
  async finish() {
    for (const task of this.finishing) {
      await Promise.resolve()
        .then(task)
        .catch((error) => this.errors.push(error));
    }
    this.http.end();
    const { id: testId, connection } = this;
    await connection
      .ask(`test:unregister ${testId}`, { type: "test:unregister", testId })
      .catch((error) => this.errors.push(error));
    this.isEnded = true;
    connection.sessions.delete(testId);
    this.stopWaiting();
    return this.takeErrors();
  }

  /** @param {Error} [error] why nothing will come any more */
  stopWaiting(error) {
    this.waiters.end(error);
    this.fetches.end(error);
    const ended = error ?? new TestEndedError("the test ended while waiting for the response");
    for (const state of this.traffic.requests.values()) state.reject?.(ended);
  }

  /** @param {Error} error */
  connectionLost(error) {
    this.stopWaiting(error);
  }

  /** @returns {Error[]} those that came so far; they are forgotten */
  takeErrors() {
    const taken = this.errors;
    this.errors = [];
    for (const error of taken) {
      if (error instanceof RoutingError && error.repeats) {
        error.message += `\n${error.repeats} more ${error.repeats === 1 ? "request" : "requests"} met the same.`;
      }
    }
    return taken;
  }

  // Routes

  /**
   * @param {import("./http-routes.js").RouteEntry} entry
   * @param {"http" | "websocket"} kind
   */
  registerRoute({ id: routeId, matcher, placeOf }, kind) {
    return this.connection.ask(`route:register ${routeId}`, {
      type: "route:register",
      routeId,
      testId: this.id,
      matcher: matcher.wire,
      ...(kind === "websocket" && { kind }),
      ...(this.info.strict && { place: written(placeOf()) }),
    });
  }

  /**
   * Refuse what no route of this test wants, from now on.
   * @param {readonly string[] | undefined} allow patterns of what may leave; without them the test is strict no more
   */
  async setStrict(allow) {
    this.connection.needStrict();
    const { id: testId } = this;
    await this.connection.ask(`test:strict ${testId}`, { type: "test:strict", testId, ...(allow && { allow }) });
    this.info.strict = allow !== undefined;
  }

  /** @param {string} routeId */
  unregisterRoute(routeId) {
    return this.connection.ask(`route:unregister ${routeId}`, { type: "route:unregister", routeId });
  }

  /** The handlers that serve all tests of this worker: the last of a chain. */
  sharedHandlers() {
    return [...this.connection.sessions.values()]
      .filter((session) => session.info.isShared && session !== this)
      .reverse()
      .flatMap((session) => session.http.live);
  }

  // Observation

  /** @returns {Promise<RequestState[]>} all requests since the test began, oldest first */
  async requests() {
    // What the proxy said before now is heard before its answer.
    await this.connection.barrier();
    return [...this.traffic.requests.values()];
  }

  /** @returns {Promise<Map<string, HistoryEntry>>} what the proxy recorded since the test began, by request id */
  async recorded() {
    const since = this.startedAt;
    const { entries } = await this.connection.query({
      type: "history:query",
      ...(since !== undefined && { since }),
    });
    return new Map(entries.map((/** @type {HistoryEntry} */ entry) => [entry.id, entry]));
  }

  /** @returns {Promise<any[] | undefined>} the connected applications; nothing from a proxy that does not tell */
  async agents() {
    if (!this.connection.features.has("agents")) return undefined;
    return (await this.connection.query({ type: "agents:query" })).agents;
  }

  // Messages

  /** @param {any} message of the proxy, for this test or for all of its worker */
  receive(message) {
    switch (message.type) {
      case "request:observed":
        return void this.observe(message);
      case "request:matched":
        return this.http.matched(message);
      case "request:claim":
        return this.http.claimed(message);
      case "request:response":
        return this.responded(message);
      case "fetch:done":
        return this.fetches.done(message);
      case "ws:claim":
        return this.sockets.claimed(message);
      case "ws:matched":
        return void this.sockets.matched(message);
      case "ws:messageFromPage":
      case "ws:messageFromServer":
      case "ws:closePage":
      case "ws:closeServer":
        return this.sockets.receive(message);
      case "proxy:error":
        return this.proxyError(message);
    }
  }

  /** @param {any} message of a request of some application */
  observe(message) {
    if (message.context === "own") this.isTagged = true;
    const [state, isNew] = this.traffic.observe(message);
    if (isNew) this.waiters.requestCame(state);
    return state;
  }

  /** @param {any} message how a request ended */
  responded({ requestId, ok, response: wire }) {
    const state = this.traffic.requests.get(requestId);
    if (!state) return;
    if (!ok || !wire) return void state.answer(null);
    const { response, hop } = this.traffic.respond(state, wire);
    if (response) this.waiters.responseCame(response);
    if (hop) this.waiters.requestCame(hop);
  }

  /** @param {any} message */
  proxyError({ code, message, detail }) {
    if (code === "invalid_message" && this.connection.refuse(this.id, new UsageError(message))) return;
    const known = this.errors.find(
      (error) => error instanceof RoutingError && error.code === code && error.message === message,
    );
    if (known) /** @type {RoutingError} */ (known).repeats += 1;
    else this.errors.push(new RoutingError(message, { code, detail }));
  }

  // Errors

  /**
   * @param {unknown} thrown
   * @param {string} where
   * @returns {Error}
   */
  recordError(thrown, where) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.errors.push(withNote(error, where));
    return error;
  }

  /**
   * @param {unknown} thrown
   * @param {import("./http-routes.js").RouteEntry} entry
   * @param {RequestState} request
   */
  recordHandlerError(thrown, entry, request) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    this.recordError(thrown, `in ${entry.name}, registered for ${entry.matcher}, on ${request}`);
    return { message };
  }

  /**
   * @param {unknown} thrown
   * @param {import("../arguments/matcher.js").Matcher} matcher
   * @param {string} url
   */
  recordPredicateError(thrown, matcher, url) {
    this.recordError(thrown, `in ${matcher}, asked about ${url}`);
  }

  // What tests see

  /** @param {RequestState} state */
  requestOf(state) {
    return (state.view ??= this.views.request(state));
  }

  /** @param {ResponseState} state */
  responseOf(state) {
    return (state.view ??= this.views.response(state));
  }

  /** @param {import("./routed-request.js").RoutedRequest} routed */
  routeOf(routed) {
    return this.views.route(routed);
  }

  /** @param {import("./mocked-websocket.js").WebSocketSide} side */
  webSocketRouteOf(side) {
    return (side.view ??= this.views.webSocketRoute(side));
  }

  /** @param {unknown} view a response as tests see it */
  stateOf(view) {
    return this.views.stateOf(view);
  }

  /** @param {unknown} view a route as tests see it */
  routedOf(view) {
    return this.views.routedOf(view);
  }
}

/**
 * Add a line to an error's text and to its stack, which begins with the text.
 *
 * @param {Error} error
 * @param {string} note
 */
function withNote(error, note) {
  const { message, stack } = error;
  try {
    error.message = `${message}\n${note}`;
    if (stack) error.stack = withoutOwnFrames(stack.replace(message, () => error.message));
  } catch {
    // A frozen error keeps its own text.
  }
  return error;
}

module.exports = { Session };
