"use strict";

const { AlreadyHandledError, TestEndedError, UndecidedError, UsageError } = require("../errors.js");
const headers = require("../arguments/headers.js");
const mockResponse = require("../arguments/mock-response.js");
const overriding = require("../arguments/request-overrides.js");
const { raisedAt } = require("./call-site.js");
const { whenGone } = require("./forgotten-routes.js");
const { RequestGoneError } = require("./handler-fetches.js");
const { ResponseState } = require("./response-state.js");

/**
 * @typedef {import("./http-routes.js").RouteEntry} RouteEntry
 * @typedef {import("../../index.js").ContinueOptions} ContinueOptions
 * @typedef {import("../../index.js").FetchOptions} FetchOptions
 * @typedef {import("../../index.js").FulfillOptions} FulfillOptions
 * @typedef {"running" | "fallen back" | "held" | "counted" | "settled"} Stage `held`: the handler returned without a
 *   decision; `counted`: a fixed response was sent, and the proxy will report whether its `times` are used up
 */

/** Playwright's error codes, with the code of protocol 3 for each. */
const ABORT_CODES = /** @type {Record<string, string>} */ ({
  aborted: "aborted",
  accessdenied: "failed",
  addressunreachable: "failed",
  blockedbyclient: "failed",
  blockedbyresponse: "failed",
  connectionaborted: "failed",
  connectionclosed: "failed",
  connectionfailed: "failed",
  connectionrefused: "connectionrefused",
  connectionreset: "connectionreset",
  failed: "failed",
  internetdisconnected: "failed",
  namenotresolved: "namenotresolved",
  timedout: "timedout",
});
const FETCH_TIMEOUT_MS = 30_000;

/** One request of a test, which passes through the handlers until one decides it. */
class RoutedRequest {
  /**
   * @param {import("./session.js").Session} session
   * @param {import("./request-state.js").RequestState} request
   * @param {RouteEntry[]} chain the handlers that have not been tried, newest first
   */
  constructor(session, request, chain) {
    this.session = session;
    this.request = request;
    this.chain = chain;
    /** @type {Stage} */
    this.stage = "running";
    /** @type {RouteEntry | undefined} the handler that runs, or ran last */
    this.entry = undefined;
    /** The decision, as text for reports. */
    this.decision = "undecided";
  }

  // The chain

  /** Run the next handler that matches the request with its changes, else send it upstream. */
  async proceed() {
    for (let entry = this.chain.shift(); entry; entry = this.chain.shift()) {
      if (!entry.isActive || !this.session.http.judge(entry, this.request)) continue;
      if (!(await this.run(entry))) return;
    }
    this.exhausted();
  }

  /**
   * @param {RouteEntry} entry
   * @returns {Promise<boolean>} whether the next handler has to run
   */
  async run(entry) {
    this.stage = "running";
    this.entry = entry;
    entry.calls += 1;
    this.session.http.count(entry);
    const route = this.session.views.route(this);
    const call = (async () => entry.handler(route, this.session.views.request(this.request)))();
    const running = call.catch(() => {});
    entry.running.add(running);
    try {
      await call;
    } catch (error) {
      return this.failed(entry, error);
    } finally {
      entry.running.delete(running);
    }
    return this.returned(route);
  }

  /**
   * @param {object} route the argument of the handler
   * @returns {boolean} whether the next handler has to run
   */
  returned(route) {
    if (this.session.isEnded || this.stage === "settled" || this.stage === "counted") return false;
    if (this.stage === "fallen back") return true;
    this.stage = "held";
    whenGone(route, this);
    return false;
  }

  /** Fail the request if it is undecided: its route object was collected, so no decision can follow. */
  forgotten() {
    if (this.isWaiting) this.giveUp("returned without a decision and kept no hold on the route");
  }

  /** Whether the handler has returned and the application still waits for a decision. */
  get isWaiting() {
    // A request that the application gave up has a response of null and does not wait.
    return this.stage === "held" && !this.session.isEnded && this.request.response === undefined;
  }

  /**
   * @param {RouteEntry} entry
   * @param {unknown} error that the handler threw
   * @returns {boolean} whether the next handler has to run
   */
  failed(entry, error) {
    if (this.session.isEnded) return false;
    if (error instanceof RequestGoneError) {
      if (this.stage !== "settled") {
        this.settle({ action: "abort", errorCode: "aborted" }, "given up by the application");
      }
      return false;
    }
    if (entry.ignoresErrors) return this.stage !== "settled";
    const message = this.session.errors.thrownByHandler(error, entry, this.request);
    if (this.stage !== "settled") this.fail(message);
    return false;
  }

  /** Decline the request, or send it upstream, because no handler is left. */
  exhausted() {
    if (!this.entry && this.session.connection.features.has("decline")) {
      this.settle({ action: "decline" }, "declined");
      return;
    }
    try {
      overriding.checkScheme(this.request.wire.url, this.request.overrides);
    } catch (error) {
      if (this.entry) this.session.errors.thrownByHandler(error, this.entry, this.request);
      this.fail(/** @type {Error} */ (error).message);
      return;
    }
    this.continueUnhandled();
  }

  /**
   * Fail a request that no handler decided, and add an error to the test.
   * @param {string} why what the handler did, for the text
   */
  giveUp(why) {
    const name = this.entry?.name ?? "its handler";
    const error = new UndecidedError(
      `${this.request}: ${name} ${why}; call route.fulfill, continue, abort or fallback, and await it`,
    );
    this.session.errors.add(raisedAt(error, this.entry?.placeOf()));
    this.fail(error.message);
  }

  /** @param {string} message */
  fail(message) {
    this.settle({ action: "abort", errorCode: "failed", message }, `aborted because of an error: ${message}`);
  }

  // What handlers do

  /**
   * Answer the request with a response.
   * @param {FulfillOptions} options
   * @throws {UsageError} an option is invalid; the request is still undecided
   */
  async fulfill({ response: view, path, body, json, ...options } = {}) {
    this.checkOpen();
    const response = view && this.session.views.stateOf(view);
    if (view && !response) throw new UsageError("response is one that route.fetch() or a wait gave");
    const content = await mockResponse.readContent({ path, body, json });
    this.checkOpen();
    this.settleWith({ ...options, ...content, response });
  }

  /**
   * Answer with the fixed response of a route, which earlier handlers have passed the request to.
   *
   * @param {RouteEntry} entry
   * @param {object} reply
   */
  reply(entry, reply) {
    this.checkOpen();
    const result = { action: "fulfill", response: { ...reply, url: this.request.url } };
    if (!entry.isCounted) return this.settle(result, "fulfilled");
    this.stage = "counted";
    this.send({ ...result, routeId: entry.id });
  }

  /** Record that the proxy sent a fixed response. */
  replied() {
    this.stage = "settled";
    this.decision = "fulfilled";
    this.session.http.open.delete(this.request.id);
  }

  /** @param {mockResponse.Mock} mock */
  settleWith(mock) {
    const wire = mockResponse.build(mock, this.request.url);
    this.settle({ action: "fulfill", response: wire }, "fulfilled");
  }

  /**
   * Send the request upstream with all changes so far and these.
   * @param {ContinueOptions} [options]
   * @throws {UsageError} a change is invalid; the request is still undecided
   */
  continue(options = {}) {
    this.checkOpen();
    const overrides = overriding.merge(this.request.overrides, options);
    overriding.checkScheme(this.request.wire.url, overrides);
    this.request.overrides = overrides;
    this.continueUpstream();
  }

  /**
   * Fail the request with a network error.
   * @param {string} [code] a key of `ABORT_CODES`
   * @throws {UsageError} another code; the request is still undecided
   */
  abort(code = "failed") {
    this.checkOpen();
    if (!Object.hasOwn(ABORT_CODES, code)) {
      const known = Object.keys(ABORT_CODES).join(", ");
      throw new UsageError(`abort: ${JSON.stringify(code)} is not an error code of Playwright; these are: ${known}`);
    }
    this.settle({ action: "abort", errorCode: ABORT_CODES[code] }, `aborted with ${code}`);
  }

  /**
   * Pass the request, with these changes, to the next handler, which runs when this one has returned.
   * @param {ContinueOptions} [options]
   */
  fallback(options = {}) {
    this.checkOpen();
    this.request.overrides = overriding.merge(this.request.overrides, options);
    const hasReturned = this.stage === "held";
    this.stage = "fallen back";
    if (hasReturned) this.proceed().catch((error) => this.session.errors.add(error));
  }

  /**
   * Send the request upstream and wait for the response; this is no decision.
   *
   * @param {FetchOptions} [options]
   * @returns {Promise<ResponseState>}
   * @throws {UsageError} an option is invalid
   * @throws {FetchError} no response came, or not within the timeout
   */
  async fetch(options = {}) {
    this.checkOpen();
    const { timeout = FETCH_TIMEOUT_MS, signal, maxRedirects, maxRetries } = options;
    for (const [name, value] of Object.entries({ maxRedirects, maxRetries })) {
      if (value !== undefined && value < 0) throw new UsageError(`${name} must be 0 or more`);
    }
    const overrides = this.fetchOverrides(options);
    const sent = overriding.forFetch(this.request.originalPairs, overrides);
    const wire = await this.session.fetches.begin({ timeout, signal }, (fetchId) =>
      this.send({
        action: "fetch",
        fetchId,
        ...(sent && { overrides: sent }),
        ...(maxRedirects !== undefined && { maxRedirects }),
        ...(maxRetries !== undefined && { maxRetries }),
      }),
    );
    return new ResponseState(this.request.withOverrides(overrides), wire);
  }

  /** @param {FetchOptions} options */
  fetchOverrides({ url, method, headers: given, postData }) {
    const overrides = overriding.merge(this.request.overrides, { method, postData });
    if (given) overrides.pairs = headers.lenient(given);
    if (url) overrides.url = absolute(url, this.session.baseURL ?? this.request.url);
    return overrides;
  }

  // Ends

  /**
   * Check that the request is with a handler, and not with a later one.
   * @param {RouteEntry | undefined} entry the handler
   * @throws {AlreadyHandledError} the handler left it to the next one
   */
  checkHandler(entry) {
    if (entry !== this.entry && !this.session.isEnded) {
      throw new AlreadyHandledError(`${this.request}: Route is already handled!`);
    }
  }

  checkOpen() {
    if (this.session.isEnded) throw new TestEndedError(`${this.request}: the test has ended`);
    if (this.stage === "settled" || this.stage === "fallen back") {
      throw new AlreadyHandledError(`${this.request}: Route is already handled!`);
    }
  }

  /** Send a request that no handler decided upstream, unless strict mode refuses it. */
  continueUnhandled() {
    this.continueUpstream({ unhandled: this.session.connection.features.has("strict") });
  }

  /**
   * Send the request upstream; later decisions of its handler are errors.
   * @param {{ unhandled?: boolean }} [options] strict mode may refuse an `unhandled` one: no handler decided it
   */
  continueUpstream({ unhandled } = {}) {
    const overrides = overriding.forContinue(this.request.originalPairs, this.request.overrides);
    const result = { action: "continue", ...(overrides && { overrides }), ...(unhandled && { unhandled }) };
    this.settle(result, "continued");
  }

  /**
   * @param {{ action: string, [key: string]: unknown }} result
   * @param {string} decision as text for reports
   */
  settle(result, decision) {
    this.stage = "settled";
    this.decision = decision;
    this.session.http.open.delete(this.request.id);
    this.send(result);
    if (result.action === "abort") this.request.answer(null);
  }

  /** @param {object} result */
  send(result) {
    this.session.send({ type: "handler:result", requestId: this.request.id, result });
  }
}

/**
 * @param {string} url
 * @param {string} base
 */
function absolute(url, base) {
  if (!URL.canParse(url, base)) throw new UsageError(`invalid URL: ${JSON.stringify(url)}`);
  const parsed = new URL(url, base);
  if (!/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(`fetch takes the protocol http or https, not ${parsed.protocol}`);
  }
  return parsed.href;
}

module.exports = { RoutedRequest };
