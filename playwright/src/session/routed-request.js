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
 *   decision; `counted`: a fixed answer was sent, and the proxy says whether it was not given too often
 */

/** Playwright's codes, and what protocol 3 has for each. */
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

/** One request on its way through a test's handlers, to its one decision. */
class RoutedRequest {
  /**
   * @param {import("./session.js").Session} session
   * @param {import("./request-state.js").RequestState} request
   * @param {RouteEntry[]} chain the handlers that are still to be asked, newest first
   */
  constructor(session, request, chain) {
    this.session = session;
    this.request = request;
    this.chain = chain;
    /** @type {Stage} */
    this.stage = "running";
    /** @type {RouteEntry | undefined} the handler that runs, or ran last */
    this.entry = undefined;
    /** Its outcome, in words. */
    this.decision = "undecided";
  }

  // The chain

  /** Run the next handler that matches the request as it is now, or let it go on. */
  async proceed() {
    for (let entry = this.chain.shift(); entry; entry = this.chain.shift()) {
      if (!entry.isActive || !this.session.http.judge(entry, this.request)) continue;
      if (!(await this.run(entry))) return;
    }
    this.exhausted();
  }

  /**
   * @param {RouteEntry} entry
   * @returns {Promise<boolean>} whether the next handler is to be asked
   */
  async run(entry) {
    this.stage = "running";
    this.entry = entry;
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
   * @returns {boolean} whether the next handler is to be asked
   */
  returned(route) {
    if (this.session.isEnded || this.stage === "settled" || this.stage === "counted") return false;
    if (this.stage === "fallen back") return true;
    this.stage = "held";
    whenGone(route, this);
    return false;
  }

  /** Note that nobody has the route any more: what is not decided by now will not be. */
  forgotten() {
    if (this.isWaiting) this.giveUp("returned without a decision and kept no hold on the route");
  }

  /** Whether its handler returned and the application still waits for a decision. */
  get isWaiting() {
    // A request that ended without a decision, because the application gave it up, waits for none.
    return this.stage === "held" && !this.session.isEnded && this.request.response === undefined;
  }

  /**
   * @param {RouteEntry} entry
   * @param {unknown} error what its handler threw
   * @returns {boolean} whether the next handler is to be asked
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

  /** No handler is left. */
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
    this.continueUpstream();
  }

  /**
   * Fail a request that nobody decided.
   * @param {string} why
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
   * Answer the application.
   * @param {FulfillOptions} options
   * @throws {UsageError} they make no response; it may be tried again
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
   * Answer by a fixed answer that handlers have left this to.
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

  /** Note that the proxy gave a fixed answer. */
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
   */
  continue(options = {}) {
    this.checkOpen();
    const overrides = overriding.merge(this.request.overrides, options);
    overriding.checkScheme(this.request.wire.url, overrides);
    this.request.overrides = overrides;
    this.continueUpstream();
  }

  /**
   * Fail the request.
   * @param {string} [code] one of Playwright's
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
   * Leave the request, with these changes, to the next handler.
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
   * Ask the upstream; decides nothing.
   *
   * @param {FetchOptions} [options]
   * @returns {Promise<ResponseState>}
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
    if (given !== undefined) overrides.pairs = headers.lenient(given);
    if (url !== undefined) overrides.url = absolute(url, this.session.baseURL ?? this.request.url);
    return overrides;
  }

  // Ends

  checkOpen() {
    if (this.session.isEnded) throw new TestEndedError(`${this.request}: the test has ended`);
    if (this.stage === "settled" || this.stage === "fallen back") {
      throw new AlreadyHandledError(`${this.request}: Route is already handled!`);
    }
  }

  /** Let it go on upstream, whatever its handler may still say. */
  continueUpstream() {
    const overrides = overriding.forContinue(this.request.originalPairs, this.request.overrides);
    this.settle({ action: "continue", ...(overrides && { overrides }) }, "continued");
  }

  /**
   * @param {{ action: string, [key: string]: unknown }} result
   * @param {string} decision in words
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
