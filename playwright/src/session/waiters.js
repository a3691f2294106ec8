"use strict";

const { randomUUID } = require("node:crypto");
const { TestEndedError, TimeoutError, UsageError } = require("../errors.js");
const { Matcher } = require("../arguments/matcher.js");
const { timeoutOf } = require("../arguments/options.js");
const { callSite, raisedAt } = require("./call-site.js");
const { abortError } = require("./handler-fetches.js");
const { turnBegan } = require("./proxy-clock.js");

/**
 * @typedef {import("./request-state.js").RequestState} RequestState
 * @typedef {import("./response-state.js").ResponseState} ResponseState
 * @typedef {import("../../index.js").WaitOptions} WaitOptions
 * @typedef {"request" | "response"} Kind
 */

/** One wait for a request or response, which the proxy ends. */
class Waiter {
  /** The id of the wait in the protocol. */
  id = randomUUID();
  placeOf = callSite();

  /**
   * @param {{ kind: Kind, timeout: number, matcher?: Matcher, predicate?: (found: any) => unknown }} wanted
   */
  constructor({ kind, timeout, matcher, predicate }) {
    this.kind = kind;
    /** Milliseconds; infinite for no limit. */
    this.timeout = timeout > 0 ? timeout : Infinity;
    this.matcher = matcher;
    this.predicate = predicate;
  }

  /** The condition, for the text of errors. */
  get what() {
    return `${this.kind} ${this.matcher ?? (this.predicate?.name || "that the predicate wants")}`;
  }

  /** The key of the proxy's answer. */
  get key() {
    return `wait:register ${this.id}`;
  }
}

/** The waits of a test for later requests and responses. */
class Waiters {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    /** @type {Map<string, Waiter>} */
    this.open = new Map();
  }

  /**
   * Wait for a later request or response.
   *
   * @param {Kind} kind
   * @param {any} wanted a glob, RegExp or URLPattern of the URL, or a predicate over the request or response
   * @param {WaitOptions} [options]
   * @returns {Promise<any>}
   * @throws {TimeoutError} none matched within the timeout
   * @throws {TestEndedError} the test ended, or `signal` was aborted
   */
  async wait(kind, wanted, { timeout, signal } = {}) {
    if (signal?.aborted) throw abortError(signal);
    if (this.session.isEnded) throw new TestEndedError("the test has ended");
    const waiter = this.waiterFor(kind, wanted, timeoutOf(timeout));
    const onAbort = () => this.giveUp(waiter, abortError(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    this.open.set(waiter.id, waiter);
    try {
      // The proxy keeps the time: without an answer some time later it does not work any more.
      const answer = await this.session.connection.ask(waiter.key, this.registration(waiter), waiter.timeout);
      if (answer.type === "wait:met") return this.found(waiter, answer.requestId);
      if (answer.error !== undefined) throw raisedAt(new UsageError(answer.error), waiter.placeOf());
      throw raisedAt(this.timedOut(waiter, answer), waiter.placeOf());
    } finally {
      this.open.delete(waiter.id);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /**
   * @param {Kind} kind
   * @param {any} wanted
   * @param {number} timeout
   */
  waiterFor(kind, wanted, timeout) {
    if (typeof wanted === "function") return new Waiter({ kind, timeout, predicate: wanted });
    if (wanted === undefined || wanted === null) {
      throw new UsageError(`what ${kind} to wait for is a glob, a RegExp or a predicate, not ${wanted}`);
    }
    return new Waiter({ kind, timeout, matcher: new Matcher(wanted, { baseURL: this.session.baseURL }) });
  }

  /** @param {Waiter} waiter that begins now */
  registration({ id, kind, matcher, timeout }) {
    const { id: testId, traffic, registration } = this.session;
    return {
      type: "wait:register",
      waitId: id,
      testId,
      kind,
      // The proxy cannot judge a predicate.
      matcher: matcher?.wire ?? { predicate: true },
      ...(timeout < Infinity && { timeoutMs: Math.ceil(timeout) }),
      // A message that comes later may be about a request from before the wait.
      since: registration.clock?.timeOf(turnBegan()),
      after: traffic.latest,
    };
  }

  /** @param {any} message `wait:judge`: does this request, or its response, meet the wait? */
  async judge({ waitId, requestId, values }) {
    const waiter = this.open.get(waitId);
    if (!waiter) return;
    try {
      if (waiter.matcher && !waiter.matcher.isRead) await waiter.matcher.read(this.session.connection);
      const met = Boolean(await this.meets(waiter, this.found(waiter, requestId), values));
      if (this.open.has(waitId)) this.session.send({ type: "wait:judged", waitId, requestId, met });
    } catch (error) {
      this.giveUp(waiter, error);
    }
  }

  /**
   * @param {Waiter} waiter
   * @param {any} found
   * @param {import("../arguments/value-checks.js").PlacedValues[]} [values] for functions of the matcher
   */
  meets({ kind, matcher, predicate }, found, values) {
    const { session } = this;
    if (predicate) return predicate(kind === "request" ? session.views.request(found) : session.views.response(found));
    return matcher?.matchesUrl(found.url) && matcher.matchesValues(values);
  }

  /**
   * @param {Waiter} waiter
   * @param {string} requestId of which the proxy has told before
   * @returns {any} the state of the request, or of its response
   */
  found({ kind }, requestId) {
    const state = this.session.traffic.requests.get(requestId);
    return kind === "request" ? state : state?.response;
  }

  /**
   * @param {Waiter} waiter
   * @param {{ text: string }} overdue the proxy's answer, with the requests that came instead
   */
  timedOut({ timeout, what, matcher }, { text }) {
    const hints = matcher?.hint ? [matcher.hint] : [];
    const lines = [`Timeout ${timeout}ms exceeded while waiting for ${what}`, ...hints, text];
    return new TimeoutError([...lines, ...this.session.http.problems()].join("\n"));
  }

  /**
   * @param {Waiter} waiter
   * @param {any} error
   */
  giveUp({ id, key }, error) {
    const { connection } = this.session;
    if (connection.questions.reject(key, error)) connection.send({ type: "wait:cancel", waitId: id });
  }

  /** @param {Error} [error] with which open waits fail; by default the test has ended */
  end(error) {
    for (const waiter of this.open.values()) {
      const ended = new TestEndedError(`the test ended while waiting for ${waiter.what}`);
      this.session.connection.questions.reject(waiter.key, error ?? raisedAt(ended, waiter.placeOf()));
    }
  }
}

module.exports = { Waiters };
