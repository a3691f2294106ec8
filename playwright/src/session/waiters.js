"use strict";

const { TestEndedError, TimeoutError, UsageError } = require("../errors.js");
const { Matcher } = require("../arguments/matcher.js");
const { callSite, raisedAt } = require("./call-site.js");
const { describeSeen } = require("./diagnosis.js");
const { abortError } = require("./handler-fetches.js");
const { turnBegan } = require("./proxy-clock.js");

/**
 * @typedef {import("./request-state.js").RequestState} RequestState
 * @typedef {import("./response-state.js").ResponseState} ResponseState
 * @typedef {import("../../index.js").WaitOptions} WaitOptions
 * @typedef {"request" | "response"} Kind
 */

const TIMEOUT_MS = 30_000;
/** The time limit of the query of the proxy for the error of a wait; ms. */
const LAST_LOOK_MS = 1000;

/** One wait for a request or response; requests from before it began do not count. */
class Waiter {
  /**
   * @param {{ kind: Kind, isTooOld: (request: RequestState) => boolean, began: number, timeout: number,
   *   matcher?: Matcher, predicate?: (found: any) => unknown }} wanted `isTooOld` returns whether a request came before
   *   the wait began, which was at `began` by the clock of this process
   */
  constructor({ kind, isTooOld, began, timeout, matcher, predicate }) {
    this.kind = kind;
    this.began = began;
    this.isTooOld = isTooOld;
    this.timeout = timeout;
    this.matcher = matcher;
    this.predicate = predicate;
    this.isDone = false;
    this.placeOf = callSite();
    /** The calls of the predicate, which run one by one in the order of the requests. */
    this.queue = Promise.resolve();
    /** @type {Promise<RequestState | ResponseState>} */
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** The condition, for the text of errors. */
  get what() {
    return `${this.kind} ${this.matcher ?? (this.predicate?.name || "that the predicate wants")}`;
  }

  /**
   * Test a request or response.
   *
   * @param {RequestState | ResponseState} found
   * @param {(state: any) => unknown} viewOf
   */
  offer(found, viewOf) {
    if (this.matcher) {
      const { method, clientId } = "request" in found ? found.request : found;
      if (this.matcher.matches({ url: found.url, method, clientId })) this.resolve?.(found);
      return;
    }
    this.queue = this.queue.then(async () => {
      if (this.isDone) return;
      try {
        if (await this.predicate?.(viewOf(found))) this.resolve?.(found);
      } catch (error) {
        this.reject?.(error);
      }
    });
  }
}

/** The waits of a test for later requests and responses. */
class Waiters {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    /** @type {Set<Waiter>} */
    this.open = new Set();
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
  async wait(kind, wanted, { timeout = TIMEOUT_MS, signal } = {}) {
    if (signal?.aborted) throw abortError(signal);
    if (this.session.isEnded) throw new TestEndedError("the test has ended");
    if (this.session.connection.lost) throw this.session.connection.lost;
    const waiter = this.begin(kind, wanted, timeout);
    const onAbort = () => waiter.reject?.(abortError(signal));
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = timeout ? setTimeout(() => this.expire(waiter), timeout) : undefined;
    try {
      return await waiter.promise;
    } finally {
      waiter.isDone = true;
      this.open.delete(waiter);
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /**
   * @param {Kind} kind
   * @param {any} wanted
   * @param {number} timeout
   */
  begin(kind, wanted, timeout) {
    const { traffic, registration } = this.session;
    const [since, began] = [traffic.sequence, turnBegan()];
    // A message that comes later may be about a request from before the wait.
    const isTooOld = (/** @type {RequestState} */ { sequence, seenAt }) =>
      sequence <= since || Boolean(registration.clock?.isBefore(seenAt, began));
    const isPredicate = typeof wanted === "function";
    if (!isPredicate && (wanted === undefined || wanted === null)) {
      throw new UsageError(`what ${kind} to wait for is a glob, a RegExp or a predicate, not ${wanted}`);
    }
    const waiter = new Waiter({
      kind,
      isTooOld,
      began,
      timeout,
      ...(isPredicate ? { predicate: wanted } : { matcher: new Matcher(wanted, { baseURL: this.session.baseURL }) }),
    });
    this.open.add(waiter);
    return waiter;
  }

  /** @param {Waiter} waiter that has timed out: it fails with an error that lists the requests that came */
  async expire(waiter) {
    const { session } = this;
    const text = `Timeout ${waiter.timeout}ms exceeded while waiting for ${waiter.what}`;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const tooLate = new Promise((resolve) => {
      timer = setTimeout(resolve, LAST_LOOK_MS);
    });
    // The proxy cannot judge a predicate.
    const unmet = { matcher: waiter.matcher?.wire ?? { predicate: true }, began: waiter.began };
    const look = session.registration.diagnosis([unmet]).catch(() => undefined);
    const diagnosis = (await Promise.race([look, tooLate])) ?? undefined;
    clearTimeout(timer);
    const seen = describeSeen(waiter, diagnosis, [...session.traffic.requests.values()], (id) =>
      session.http.problemOf(id),
    );
    const error = new TimeoutError(`${text}\n${seen}`);
    waiter.reject?.(raisedAt(error, waiter.placeOf()));
  }

  /** @param {RequestState} request */
  requestCame(request) {
    this.offer("request", request, request);
  }

  /**
   * Offer a request to the waits that took it for older than themselves by the proxy's clock. A handler of this test
   * decides about it only now, so its application still waits: the test caused it just before the wait.
   *
   * @param {RequestState} request
   */
  requestMatched(request) {
    const older = [...this.open].filter((waiter) => waiter.isTooOld(request));
    request.seenAt = undefined;
    this.offer("request", request, request, older);
  }

  /** @param {ResponseState} response for the waits that were open when its request came */
  responseCame(response) {
    this.offer("response", response, response.request);
  }

  /**
   * @param {Kind} kind
   * @param {RequestState | ResponseState} found
   * @param {RequestState} request
   * @param {Iterable<Waiter>} [waiters]
   */
  offer(kind, found, request, waiters = this.open) {
    const { session } = this;
    const viewOf = (/** @type {any} */ state) =>
      kind === "request" ? session.views.request(state) : session.views.response(state);
    for (const waiter of waiters) {
      if (waiter.kind === kind && !waiter.isTooOld(request)) waiter.offer(found, viewOf);
    }
  }

  /** @param {Error} [error] with which open waits fail; by default the test has ended */
  end(error) {
    for (const waiter of this.open) {
      const ended = new TestEndedError(`the test ended while waiting for ${waiter.what}`);
      waiter.reject?.(error ?? raisedAt(ended, waiter.placeOf()));
    }
  }
}

module.exports = { Waiters };
