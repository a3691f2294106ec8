"use strict";

const { AlreadyHandledError, TestEndedError, UndecidedError, UsageError } = require("../errors.js");
const headers = require("../arguments/headers.js");
const { timeoutOf } = require("../arguments/options.js");
const overriding = require("../arguments/request-overrides.js");
const { sentOptions } = require("../arguments/sent-options.js");
const { raisedAt, written } = require("./call-site.js");
const { whenGone } = require("./forgotten-routes.js");
const { RequestGoneError } = require("./handler-fetches.js");
const { ResponseState } = require("./response-state.js");
const { WrittenStream } = require("./written-stream.js");

/**
 * @typedef {import("./http-routes.js").RouteEntry} RouteEntry
 * @typedef {import("../../index.js").ContinueOptions} ContinueOptions
 * @typedef {import("../../index.js").FetchOptions} FetchOptions
 * @typedef {import("../../index.js").FulfillOptions} FulfillOptions
 * @typedef {import("../arguments/sent-options.js").SentOptions} SentOptions
 * @typedef {"running" | "fallen back" | "undecided" | "settled"} Stage `undecided`: the handler returned without a decision
 */

/** A request of a test with one of its handlers: one run of `handler:run`. */
class RoutedRequest {
  /**
   * @param {import("./session.js").Session} session
   * @param {import("./request-state.js").RequestState} request
   * @param {RouteEntry} entry the route whose handler runs
   * @param {string} runId identifies the run in `handler:result`
   */
  constructor(session, request, entry, runId) {
    this.session = session;
    this.request = request;
    this.entry = entry;
    this.runId = runId;
    /** @type {Stage} */
    this.stage = "running";
    this.hasReturned = false;
    /** The decision, as text for reports. */
    this.decision = "undecided";
    /** @type {object | undefined} the changes with which the handler fell back, for the proxy */
    this.overrides = undefined;
    /** @type {WrittenStream | undefined} the answer that the handler writes */
    this.streamed = undefined;
  }

  /** Run the handler, and send its result if it has left the request to the next one or failed. */
  async run() {
    const { entry, session } = this;
    entry.meet(this.request);
    const route = session.views.route(this);
    const call = (async () => entry.handler(route, session.views.request(this.request)))();
    const running = call.catch(() => {});
    entry.running.add(running);
    try {
      await call;
    } catch (error) {
      return this.failed(error);
    } finally {
      entry.running.delete(running);
      this.hasReturned = true;
    }
    this.returned(route);
  }

  /** @param {object} route the argument of the handler */
  returned(route) {
    if (this.session.isEnded || this.stage === "settled") return;
    if (this.stage === "fallen back") return this.passOn();
    this.stage = "undecided";
    whenGone(route, this);
  }

  /** Fail the request if it is undecided: its route object was collected, so no decision can follow. */
  forgotten() {
    if (this.isWaiting) this.giveUp("returned without a decision and kept no hold on the route");
  }

  /** Whether the handler has returned and the application still waits for a decision. */
  get isWaiting() {
    // A request that the application gave up has a response of null and does not wait.
    return this.stage === "undecided" && !this.session.isEnded && this.request.response === undefined;
  }

  /** @param {unknown} error that the handler threw */
  failed(error) {
    if (this.session.isEnded) return;
    if (error instanceof RequestGoneError) {
      if (this.stage !== "settled") {
        this.settle({ action: "abort", errorCode: "aborted" }, "given up by the application");
      }
      return;
    }
    this.streamed?.fail();
    if (this.entry.ignoresErrors) {
      if (this.stage !== "settled") this.passOn();
      return;
    }
    const message = this.session.errors.thrownByHandler(error, this.entry, this.request);
    if (this.stage !== "settled") this.fail(message);
  }

  /** Leave the request to the next handler. If there is none, it is sent upstream. */
  passOn() {
    this.settle({ action: "fallback", ...(this.overrides && { overrides: this.overrides }) }, "continued");
  }

  /** Record that the proxy sends the request upstream, because the route was removed. */
  letGo() {
    if (this.stage !== "settled") this.close("continued");
  }

  /**
   * Fail a request that no handler decided, and add an error to the test.
   * @param {string} why what the handler did, for the text
   */
  giveUp(why) {
    const error = new UndecidedError(
      `${this.request}: ${this.entry.name} ${why}; call route.fulfill, continue, abort or fallback, and await it`,
    );
    this.session.errors.add(raisedAt(error, this.entry.placeOf()));
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
  async fulfill({ response: view, ...given } = {}) {
    this.checkOpen();
    const options = await sentOptions(given);
    if (view) options.response = this.sentResponse(view);
    this.checkOpen();
    await this.decide({ call: "fulfill", options }, "fulfilled");
  }

  /** @param {unknown} view the response that an answer is made from */
  sentResponse(view) {
    const response = this.session.views.stateOf(view);
    if (!response) throw new UsageError("response is one that route.fetch() or a wait gave");
    if (response.isDisposed) throw new UsageError("the response given to fulfill has been disposed");
    const { pieces: _, ...wire } = response.wire;
    return { ...wire, url: response.url };
  }

  /**
   * Begin to answer the request; the body is written by the stream.
   * @param {SentOptions} options of the head
   * @returns {{ stream: WrittenStream, read: Promise<void> }} `read` is rejected with a `UsageError` if an option is
   *   invalid; the request is still undecided then
   */
  stream(options) {
    this.checkOpen();
    const stream = new WrittenStream(this.session, this.request, written(this.entry.placeOf()));
    this.streamed = stream;
    this.session.streams.add(stream);
    const read = this.decide({ call: "stream", options }, "fulfilled").catch((error) => {
      if (error instanceof UsageError) this.streamed = undefined;
      stream.lost(error);
      throw error;
    });
    return { stream, read };
  }

  /**
   * Send the request upstream with all changes so far and these.
   * @param {ContinueOptions & { delay?: number, fault?: string, after?: number, rate?: number }} [given]
   * @throws {UsageError} an option is invalid; the request is still undecided
   */
  async continue({ url, method, headers: pairs, postData, ...given } = {}) {
    this.checkOpen();
    const changes = overriding.read({ url, method, headers: pairs, postData });
    overriding.checkScheme(this.request, changes);
    const options = await sentOptions(given);
    this.checkOpen();
    const before = this.request.overrides;
    const overrides = this.change(changes);
    await this.decide({ call: "continue", options, ...(overrides && { overrides }) }, "continued", before);
  }

  /**
   * Fail the request with a network error.
   * @param {string} [code] one of Playwright's
   * @param {import("../../index.js").AbortOptions} [given]
   * @throws {UsageError} another code; the request is still undecided
   */
  async abort(code = "failed", given = {}) {
    this.checkOpen();
    const options = await sentOptions({ ...given, abort: code });
    this.checkOpen();
    await this.decide({ call: "abort", options }, `aborted with ${code}`);
    this.request.answer(null);
  }

  /**
   * Pass the request, with these changes, to the next handler, which runs when this one has returned.
   * @param {ContinueOptions} [options]
   */
  fallback(options = {}) {
    this.checkOpen();
    this.overrides = this.change(overriding.read(options));
    const hasReturned = this.stage === "undecided";
    this.stage = "fallen back";
    if (hasReturned) this.passOn();
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
    const { signal, maxRedirects, maxRetries } = options;
    const timeout = timeoutOf(options.timeout);
    for (const [name, value] of Object.entries({ maxRedirects, maxRetries })) {
      if (value !== undefined && value < 0) throw new UsageError(`${name} must be 0 or more`);
    }
    const changes = this.fetchChanges(options);
    const overrides = overriding.toWire(changes);
    const wire = await this.session.fetches.begin({ timeout, signal }, (fetchId) =>
      this.send({
        action: "fetch",
        fetchId,
        ...(overrides && { overrides }),
        ...(maxRedirects !== undefined && { maxRedirects }),
        ...(maxRetries !== undefined && { maxRetries }),
      }),
    );
    return new ResponseState(this.request.withOverrides(changes), wire);
  }

  /** @param {FetchOptions} options */
  fetchChanges({ url, method, headers: given, postData }) {
    return {
      ...overriding.read({ method, postData }),
      ...(given && { pairs: headers.checked(headers.lenient(given)) }),
      ...(url && { url: absolute(url, this.session.baseURL ?? this.request.url) }),
    };
  }

  /**
   * Show the handler's changes in the request.
   *
   * @param {overriding.Overrides} changes
   * @returns {object | undefined} the changes for the proxy
   */
  change(changes) {
    this.request.overrides = changes;
    return overriding.toWire(changes);
  }

  // Ends

  checkOpen() {
    if (this.session.isEnded) throw new TestEndedError(`${this.request}: the test has ended`);
    if (this.stage === "settled" || this.stage === "fallen back") {
      throw new AlreadyHandledError(`${this.request}: Route is already handled!`);
    }
  }

  /**
   * Send a decision; the proxy reads its options.
   *
   * @param {{ call: string, options: SentOptions, overrides?: object }} made
   * @param {string} decision as text for reports
   * @param {overriding.Overrides} [before] the changes in the request without those of the decision
   * @throws {UsageError} an option is invalid; the request is still undecided
   */
  async decide(made, decision, before = this.request.overrides) {
    const { request, runId, session } = this;
    this.close(decision);
    const { error: why } = await session.connection.ask(`handler:result ${runId}`, {
      type: "handler:result",
      requestId: request.id,
      runId,
      result: { action: "written", ...made },
    });
    if (why === undefined) return;
    const error = new UsageError(why);
    request.overrides = before;
    this.stage = "running";
    this.decision = "undecided";
    session.http.open.set(request.id, this);
    // Nobody has awaited the call.
    if (this.hasReturned) this.failed(error);
    throw error;
  }

  /**
   * @param {{ action: string, [key: string]: unknown }} answer
   * @param {string} decision as text for reports
   */
  settle(answer, decision) {
    this.close(decision);
    this.send(answer);
    if (answer.action === "abort") this.request.answer(null);
  }

  /** @param {string} decision as text for reports */
  close(decision) {
    this.stage = "settled";
    this.decision = decision;
    this.session.http.open.delete(this.request.id);
  }

  /** @param {object} result an answer, or a fetch */
  send(result) {
    const { request, runId } = this;
    this.session.send({ type: "handler:result", requestId: request.id, runId, result });
  }
}

/**
 * @param {string} url
 * @param {string} base
 */
function absolute(url, base) {
  if (!URL.canParse(url, base)) throw overriding.invalidUrl(url);
  const parsed = new URL(url, base);
  if (!/^https?:$/.test(parsed.protocol)) {
    throw new UsageError(`fetch takes the protocol http or https, not ${parsed.protocol}`);
  }
  return parsed.href;
}

module.exports = { RoutedRequest };
