"use strict";

/** @import { TrafficMock as PublicTrafficMock } from "../../index.js" */

const { CONTEXT_COOKIE, CONTEXT_MEMBER } = require("trafficmock-agent/protocol/facts");
const { RoutingError, UsageError } = require("../errors.js");
const { Matcher, withoutFilter } = require("../arguments/matcher.js");
const { lateWait } = require("../session/late-wait.js");
const { anObject, checkFlags, checked } = require("../arguments/options.js");
const { sentOptions } = require("../arguments/sent-options.js");
const { routeFromHAR } = require("../har/har-routes.js");
const { callSite, written } = require("../session/call-site.js");
const { AwaitedStream } = require("../session/written-stream.js");
const { Request } = require("./request.js");
const { Response, stateOf } = require("./response.js");
const { RouteHandle } = require("./route-handle.js");
const { Route, routedOf } = require("./route.js");
const { Stream } = require("./stream.js");
const { WebSocketRoute } = require("./websocket-route.js");

/**
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("../session/session.js").Views} Views
 * @typedef {import("../../index.js").RouteMatcher} RouteMatcher
 */

/**
 * The calls with which a test mocks and observes the requests of attached applications.
 * @implements {PublicTrafficMock}
 */
class TrafficMock {
  #registered;

  /** @param {Session} session the registered test */
  constructor(session) {
    this.#registered = session;
  }

  get #session() {
    this.#registered.noteCall();
    return this.#registered;
  }

  get id() {
    return this.#session.registration.context;
  }

  get headers() {
    const { context } = this.#session.registration;
    this.#session.watchClients();
    /** @type {Record<string, string>} */
    const headers = context ? { baggage: `${CONTEXT_MEMBER}=${context}` } : {};
    return headers;
  }

  get proxy() {
    const { registration, connection } = this.#session;
    const { browserProxyPort, browserProxyError: reason } = registration;
    if (reason !== undefined) throw new RoutingError(noBrowserProxy(reason), { code: "internal" });
    if (browserProxyPort === undefined) return undefined;
    const { hostname } = new URL(connection.proxyUrl);
    const credentials = connection.token ? { username: "browser", password: connection.token } : {};
    return { server: `http://${hostname}:${browserProxyPort}`, ...credentials };
  }

  /** @param {string} [url] of the application, by default the base URL */
  cookie(url = this.#session.baseURL) {
    if (!this.id) throw new UsageError("this test has no context: isolation is off, or the proxy knows none");
    if (!url) throw new UsageError("cookie(url): name the application's URL, or set baseURL");
    const { protocol, hostname } = new URL(url);
    return {
      name: CONTEXT_COOKIE,
      value: this.id,
      domain: hostname,
      path: "/",
      httpOnly: true,
      secure: protocol === "https:",
      sameSite: /** @type {const} */ ("Lax"),
    };
  }

  /**
   * @param {RouteMatcher} url
   * @param {import("../../index.js").RouteHandler} handler
   * @param {{ times?: number }} [options]
   */
  async route(url, handler, options) {
    checkHandler(handler, "route");
    const settings = checked("route", withoutFilter("route", options));
    const entry = await this.#session.http.route(this.#matcher(url), handler, this.#must(settings));
    return new RouteHandle(this.#session, entry);
  }

  /**
   * @param {RouteMatcher} url
   * @param {import("../../index.js").MockOptions} [options]
   */
  async mock(url, options = {}) {
    const matcher = this.#matcher(url);
    checkHttp("mock", matcher);
    const { times, required, ...answer } = withoutFilter("mock", anObject("mock", options));
    const answers = { options: await sentOptions(answer) };
    const entry = await this.#session.http.addAnswers(matcher, answers, this.#must({ times, required }));
    return new RouteHandle(this.#session, entry);
  }

  /**
   * @param {RouteMatcher} url
   * @param {import("../../index.js").StreamRouteOptions} [options]
   */
  async stream(url, options = {}) {
    const matcher = this.#matcher(url);
    checkHttp("stream", matcher);
    const { required, ...given } = withoutFilter("stream", anObject("stream", options));
    const head = await sentOptions(given);
    const place = written(callSite()());
    const awaited = new AwaitedStream(this.#session.streams, `for ${matcher}${place && ` (${place})`}`);
    /** @param {any} route */
    const begin = (route) => {
      const { stream, read } = routedOf(route).stream(head);
      awaited.begin?.(stream);
      return read;
    };
    await this.#session.http.route(matcher, begin, this.#must({ times: 1, required }), head);
    return new Stream(awaited);
  }

  /**
   * @param {import("../../index.js").RouteOptions} [options] of a route
   * @returns {import("../../index.js").RouteOptions} with the default of the test
   */
  #must({ times, required } = {}) {
    checkFlags({ required });
    return { times, required: required ?? this.#session.info.required };
  }

  /**
   * @param {RouteMatcher} [url]
   * @param {import("../../index.js").RouteHandler} [handler]
   */
  async unroute(url, handler) {
    await this.#session.http.unroute(url === undefined ? undefined : this.#matcher(url), handler);
  }

  /** @param {import("../../index.js").UnrouteAllOptions} [options] */
  async unrouteAll(options) {
    const { behavior = "default" } = checked("unrouteAll", options) ?? {};
    await this.#session.http.unrouteAll(behavior);
  }

  /**
   * @param {string} file
   * @param {import("../../index.js").RouteFromHAROptions} [options]
   */
  async routeFromHAR(file, options) {
    await routeFromHAR(this.#session, file, checked("routeFromHAR", options));
  }

  /**
   * @param {import("../../index.js").WebSocketMatcher} url
   * @param {import("../../index.js").WebSocketRouteHandler} handler
   */
  async routeWebSocket(url, handler) {
    checkHandler(handler, "routeWebSocket");
    await this.#session.sockets.route(new Matcher(url, { baseURL: this.#session.baseURL, webSocket: true }), handler);
  }

  /**
   * @param {any} urlOrPredicate
   * @param {import("../../index.js").WaitOptions} [options]
   */
  waitForRequest(urlOrPredicate, options) {
    return lateWait(this.#session, this.#waitForRequest(urlOrPredicate, options));
  }

  /** @type {(wanted: any, options?: import("../../index.js").WaitOptions) => Promise<any>} */
  async #waitForRequest(urlOrPredicate, options) {
    const found = await this.#session.waiters.wait("request", urlOrPredicate, ofWait("waitForRequest", options));
    return this.#session.views.request(found);
  }

  /**
   * @param {any} urlOrPredicate
   * @param {import("../../index.js").WaitOptions} [options]
   */
  waitForResponse(urlOrPredicate, options) {
    return lateWait(this.#session, this.#waitForResponse(urlOrPredicate, options));
  }

  /** @type {(wanted: any, options?: import("../../index.js").WaitOptions) => Promise<any>} */
  async #waitForResponse(urlOrPredicate, options) {
    const found = await this.#session.waiters.wait("response", urlOrPredicate, ofWait("waitForResponse", options));
    return this.#session.views.response(found);
  }

  /** @param {RouteMatcher} [url] */
  async requests(url) {
    const matcher = url === undefined ? undefined : this.#matcher(url);
    const session = this.#session;
    const [all] = await Promise.all([session.requests(), matcher?.read(session.connection)]);
    const seen = all.filter((request) => !matcher || matcher.matches(request));
    const conditions = matcher?.wire.conditions;
    // Only the proxy compares them, and reads the values for functions.
    const values = conditions && (await this.#session.connection.recordedValues({ conditions }));
    return seen
      .filter(({ id }) => !values || (values.has(id) && matcher?.matchesValues(values.get(id))))
      .map((request) => this.#session.views.request(request));
  }

  /** @param {{ allow?: readonly import("../../index.js").Allowed[] } | false} [options] */
  async strict(options = {}) {
    const allow = options === false ? undefined : (checked("strict", options).allow ?? []);
    await this.#session.registration.setStrict(allow);
  }

  async unmatched() {
    const { requests } = await this.#session.connection.unmatched();
    return requests;
  }

  takeErrors() {
    return this.#session.errors.take();
  }

  /** @param {RouteMatcher} url */
  #matcher(url) {
    return new Matcher(url, { baseURL: this.#session.baseURL });
  }
}

/**
 * @param {unknown} handler
 * @param {string} call
 */
function checkHandler(handler, call) {
  if (typeof handler !== "function") throw new UsageError(`${call}: the handler is a function, not ${typeof handler}`);
}

/**
 * @param {"mock" | "stream"} call
 * @param {Matcher} matcher
 */
function checkHttp(call, matcher) {
  if (typeof matcher.url === "string" && /^wss?:/i.test(matcher.url)) {
    const url = JSON.stringify(matcher.url);
    throw new UsageError(
      `${call} answers HTTP requests, and ${url} is for WebSockets: routeWebSocket takes their part`,
    );
  }
}

/**
 * @param {Session} session
 * @returns {Views}
 */
const viewsOf = (session) => ({
  request: (state) => (state.view ??= new Request(state, session)),
  response: (state) => (state.view ??= new Response(state, session)),
  route: (routed) => new Route(routed),
  webSocketRoute: (side) => (side.view ??= new WebSocketRoute(side)),
  stateOf,
});

/** @param {string} reason */
const noBrowserProxy = (reason) =>
  `the service could not open a port for this test's browser: ${reason}. Each test with a browser has one until its ` +
  "end. Let fewer of them run at the same time, or let the service open more files (ulimit -n).";

/**
 * @template T
 * @param {"waitForRequest" | "waitForResponse"} call
 * @param {T} options
 * @returns {T} the options
 */
const ofWait = (call, options) => checked(call, withoutFilter(call, options));

module.exports = { TrafficMock, viewsOf };
