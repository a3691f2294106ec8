"use strict";

const { randomUUID } = require("node:crypto");
const { REQUEST_SETTLED } = require("trafficmock-agent/protocol/facts");
const { FetchError, TestEndedError } = require("../errors.js");

/** The application gave its request up while a handler fetched for it. */
class RequestGoneError extends FetchError {}

/** The open upstream fetches of one test's handlers. */
class HandlerFetches {
  constructor() {
    /** @type {Map<string, { resolve(response: any): void, reject(error: Error): void }>} */
    this.waiting = new Map();
  }

  /**
   * Open a fetch and wait for its answer.
   *
   * @param {{ timeout: number, signal?: AbortSignal }} options `timeout` in ms, 0 for no limit
   * @param {(fetchId: string) => void} send sends the message to the proxy
   * @returns {Promise<import("./response-state.js").WireResponse>}
   * @throws {FetchError} no response came, or not within the timeout
   */
  async begin({ timeout, signal }, send) {
    const fetchId = randomUUID();
    signal?.throwIfAborted();
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const onAbort = () => this.waiting.get(fetchId)?.reject(abortError(signal));
    try {
      return await new Promise((resolve, reject) => {
        this.waiting.set(fetchId, { resolve, reject });
        signal?.addEventListener("abort", onAbort, { once: true });
        if (timeout > 0) {
          const error = new FetchError(`Timeout ${timeout}ms exceeded while fetching`);
          timer = setTimeout(() => reject(error), timeout);
        }
        send(fetchId);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      this.waiting.delete(fetchId);
    }
  }

  /** @param {any} message `fetch:done`; one after the timeout is ignored */
  done({ fetchId, ok, response, error }) {
    const fetch = this.waiting.get(fetchId);
    if (ok && response) fetch?.resolve(response);
    else if (error?.code === REQUEST_SETTLED) {
      fetch?.reject(new RequestGoneError("the application gave the request up during the fetch", error.code));
    } else fetch?.reject(new FetchError(error?.message ?? "the fetch failed", error?.code));
  }

  /** @param {Error} [error] with which open fetches fail; by default the test has ended */
  end(error) {
    for (const { reject } of this.waiting.values()) {
      reject(error ?? new TestEndedError("the test ended during the fetch"));
    }
  }
}

/**
 * @param {AbortSignal | undefined} signal that was aborted
 * @returns {Error} its reason, as Playwright reports it
 */
function abortError(signal) {
  const reason = signal?.reason;
  if (reason instanceof Error && reason.name !== "AbortError") return reason;
  if (typeof reason === "string" && reason) return new TestEndedError(reason);
  return new TestEndedError("The operation was aborted");
}

module.exports = { HandlerFetches, RequestGoneError, abortError };
