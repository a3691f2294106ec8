"use strict";

const { performance } = require("node:perf_hooks");
const headers = require("../protocol/headers.js");
const { TrafficMockError, networkError, serializeError } = require("../protocol/errors.js");
const { UNMATCHED } = require("../protocol/facts.js");
const { readMock } = require("./mock.js");
const { StreamedBody } = require("./streamed-body.js");
const { givenUp } = require("./report.js");
const { ReportedRequest, isJudged } = require("./reported-request.js");
const { fetchUpstream } = require("./fetching.js");
const { overridden } = require("./redirects.js");
const { refusalOf } = require("./refusal.js");
const { responseToWire } = require("../protocol/messages.js");

/** Node's own clock, kept because tests of applications replace it. */
const now = performance.now.bind(performance);

/**
 * The side of a client library that holds a request and carries out its decision.
 * Each function is called at most once, except `inScope` and `perform`.
 *
 * @typedef {object} Client
 * @property {<R>(act: () => R) => R} inScope calls a function in the asynchronous context of the request; the others are called in it
 * @property {import('../contexts/test-contexts.js').TestContext | undefined} context
 * @property {{ stack?: string } | undefined} callers of the function that sends the request
 * @property {import('../contexts/request-origin.js').RequestOrigin | undefined} [origin] of a request without a context
 * @property {() => void} passthrough let the application's client send the request
 * @property {(changed: import('../protocol/messages.js').Outgoing, wayBack?: import('./faulty-body.js').BodyWay) => void} resume
 *   send this request in its place, and do to its answer what the test says
 * @property {(mock: import('./mock.js').Mock) => void} fulfill
 * @property {() => void} closeUnanswered close the connection without an answer
 * @property {(error: Error) => void} fail
 * @property {() => void} [collect] read the rest of the body into the exchange's upload
 * @property {import('./fetching.js').Perform} perform send a copy of the request, for a handler's fetch
 */

/** One request that is held, from its announcement to the proxy's decision, and the reports after it. */
class Exchange extends ReportedRequest {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {import('../protocol/messages.js').Outgoing} request
   * @param {Client} client
   * @param {import('./upload.js').Upload} [upload] the body, if it is not complete yet
   */
  constructor(agent, request, client, upload) {
    super(agent, request, client, upload);
    this.client = client;
    this.inScope = client.inScope;
    this.isSettled = false;
    /** Stops handlers' fetches when their answers are not needed any more. */
    this.unwanted = new AbortController();
    /** When the request was announced; ms. @type {number | undefined} */
    this.askedAt = undefined;
  }

  /** Announce the request and wait for the decision, unless it may pass without one. */
  start() {
    if (!this.agent.local.lets(this.request.url, this.context)) return this.ask();
    this.isSettled = true;
    this.pass();
    this.tellPassed();
    this.client.passthrough();
  }

  /** Announce the request and wait for the decision. */
  ask() {
    this.agent.keepAlive.hold();
    this.agent.waiters.enter(this.id, this, () => {
      this.askedAt = now();
      const isWanted = this.origin && this.agent.contexts.areOriginsWanted;
      const origin = isWanted && { origin: this.origin?.toWire() };
      this.announce("request:start", { ...this.bodyNews, ...this.agent.local.count(), ...origin });
    });
  }

  /**
   * Announce the request as the next hop of a redirect. It has no routes: it goes upstream at once, or in
   * strict mode when the proxy has allowed it.
   * @param {import('./redirects.js').Hop} from the hop before
   */
  follow(from) {
    const { id, url, override } = from;
    const isAsked = isJudged(this.agent, from);
    if (!isAsked) this.passAfter(from);
    if (override && this.agent.state === "up") Object.assign(this, overridden(override, url, this.request));
    if (isAsked) {
      this.agent.keepAlive.hold();
      const hop = { redirectedFromRequestId: id, decide: true };
      this.agent.waiters.enter(this.id, this, () => this.announce("request:observe", hop));
      return;
    }
    this.isSettled = true;
    if (this.agent.state !== "up") return this.client.fail(this.agent.error);
    this.tellPassedAfter(from);
    this.goOn();
  }

  /** Let the request go upstream, with the headers of a handler if its first hop was continued with them. */
  goOn() {
    if (this.override) this.client.resume(this.outbound(this.request));
    else this.client.passthrough();
  }

  /**
   * @param {import('../protocol/messages.js').Outgoing} request
   * @returns {import('../protocol/messages.js').Outgoing} the request to send, with or without the context
   */
  outbound(request) {
    const pairs = this.agent.contexts.outbound(new URL(request.url), request.pairs, this.context);
    return { ...request, pairs };
  }

  /** @param {any} message about this request */
  receive(message) {
    if (message.type === "decision:fetch") return void this.fetch(message);
    if (message.type === "request:need-body") return this.hand();
    const decide = DECISIONS.get(message.type);
    if (!decide || !this.settle()) return;
    this.judgesHops = message.judgeHops === true;
    try {
      decide(this, message);
    } catch (error) {
      this.client.fail(
        error instanceof TrafficMockError ? error : impossible(message.type, /** @type {Error} */ (error)),
      );
    }
  }

  /** Send the body to the proxy, because a test owns the request. */
  hand() {
    this.upload?.hand(this.id, (body) => {
      this.request = { ...this.request, body };
    });
    this.client.collect?.();
  }

  /** @param {Error} error why no decision will come */
  lost(error) {
    if (!this.settle()) return;
    this.unwanted.abort(error);
    this.client.fail(error);
  }

  /** Cancel the request at the proxy, because the application gave it up. */
  cancel() {
    if (!this.settle()) return;
    this.unwanted.abort(givenUp());
    this.agent.send({ type: "request:cancel", requestId: this.id, reason: "the application aborted the request" });
  }

  /** @returns {boolean} whether the request was undecided until now */
  settle() {
    if (this.isSettled) return false;
    this.isSettled = true;
    this.agent.waiters.leave(this.id);
    this.agent.keepAlive.release();
    return true;
  }

  /** @param {any} message a `decision:fetch` */
  async fetch(message) {
    const { requestId, fetchId } = message;
    const { signal } = this.unwanted;
    try {
      const wanted = withOverrides(this.request, message.overrides ?? {});
      const response = await fetchUpstream(
        wanted,
        (request) => this.client.perform(this.outbound(request), signal),
        message,
        signal,
      );
      this.agent.send({
        type: "fetch:result",
        requestId,
        fetchId,
        ok: true,
        response: responseToWire(response),
      });
    } catch (error) {
      this.agent.send({ type: "fetch:result", requestId, fetchId, ok: false, error: serializeError(error) });
    }
  }
}

/**
 * @param {string} type of the decision
 * @param {Error} cause
 */
function impossible(type, cause) {
  return new TrafficMockError("handler_failed", `The ${type} cannot be carried out: ${cause.message}`, { cause });
}

/** @type {Map<string, (exchange: Exchange, message: any) => void>} */
const DECISIONS = new Map(
  Object.entries({
    "decision:passthrough": (exchange) => {
      if (exchange.askedAt !== undefined) exchange.agent.local.answered(exchange.askedAt);
      exchange.goOn();
    },
    "decision:continue": (exchange, { overrides, way }) => {
      const { client, request } = exchange;
      if (overrides?.headers || overrides?.headersList) exchange.override = headers.fromWire(overrides);
      const isUnchanged = !overrides || Object.keys(overrides).length === 0;
      if (isUnchanged && !way) return client.passthrough();
      const changed = exchange.outbound(withOverrides(request, overrides ?? {}));
      client.resume(changed, way);
    },
    "decision:fulfill": (exchange, { response, stream, way }) => {
      const { client, request } = exchange;
      if (way?.then === "empty_response") return client.closeUnanswered();
      const streamed = stream === true ? new StreamedBody(exchange) : undefined;
      const mock = readMock(response, request.method, streamed, way, request.url);
      // Its pieces come with the id of the request, which is decided now.
      if (mock.body === streamed) streamed.open();
      client.fulfill(mock);
    },
    "decision:abort": ({ client, request }, { errorCode, message }) =>
      client.fail(networkError(errorCode, request.url, message)),
    "decision:error": ({ agent, client, request, upload, callers }, { code, message, matches }) => {
      const written = upload?.isAwaited ? ` ${upload.copy.size} bytes of its body were written.` : "";
      const text = `${message}${written}`;
      if (code !== UNMATCHED) return client.fail(new TrafficMockError(String(code), text, { matches }));
      const refusal = refusalOf(agent.settings.strictAnswer, text, request.pairs, callers);
      if ("error" in refusal) client.fail(refusal.error);
      else client.fulfill(readMock(refusal.response, request.method));
    },
  }),
);

/**
 * @param {import('../protocol/messages.js').Outgoing} request
 * @param {{ url?: string, method?: string, headers?: Record<string, string>, headersList?: headers.Pairs, bodyBase64?: string | null }} overrides
 * @returns {import('../protocol/messages.js').Outgoing}
 */
function withOverrides(request, overrides) {
  const url = overrides.url === undefined ? request.url : new URL(overrides.url, request.url).href;
  const method = (overrides.method || request.method).toUpperCase();
  let pairs = overrides.headers || overrides.headersList ? headers.fromWire(overrides) : request.pairs;
  let { body } = request;
  if (overrides.bodyBase64 !== undefined) {
    body = overrides.bodyBase64 === null ? null : Buffer.from(overrides.bodyBase64, "base64");
  }
  // What was no such request has a body that does not fit. The application's own GET may have one.
  if ((method === "GET" || method === "HEAD") && method !== request.method) body = null;
  if (body !== request.body) {
    pairs = headers.without(pairs, "content-length", "transfer-encoding");
    // RFC 9110, section 8.6: without content, methods that expect it have a content-length of 0.
    if (body || !["GET", "HEAD", "DELETE", "OPTIONS"].includes(method)) {
      pairs = [...pairs, ["content-length", String(body?.length ?? 0)]];
    }
  }
  if (new URL(url).host !== new URL(request.url).host) pairs = headers.without(pairs, "host");
  return { url, method, pairs, body };
}

module.exports = { Exchange, withOverrides };
