"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { internal } = require("../process/internals.js");

/** undici's default; ms. */
const DEFAULT_MS = 300e3;

/**
 * @param {"headers" | "body"} part of a response
 * @param {any} dispatcher
 * @param {any} opts of the dispatch
 * @returns {number} undici's time limit for the head of a response, or from one part of its body to the next; ms, 0 for none
 */
function limitOf(part, dispatcher, opts) {
  return opts[`${part}Timeout`] ?? ofDispatcher(part, dispatcher) ?? DEFAULT_MS;
}

/**
 * @param {"headers" | "body"} part
 * @param {any} dispatcher
 * @returns {number | undefined}
 */
function ofDispatcher(part, dispatcher) {
  const inner = internal(dispatcher, "proxy agent");
  return (
    internal(dispatcher, `${part} timeout`) ??
    internal(dispatcher, "options")?.[`${part}Timeout`] ??
    (inner && ofDispatcher(part, inner))
  );
}

/** A time limit of undici, while a request waits for its decision, or for the next part of a mock. */
class TimeLimit {
  /**
   * @param {number} ms 0 for no limit
   * @param {() => boolean} isUncounted whether undici does not count the present time: the application writes the
   *   request, or does not read the response
   * @param {() => void} late called when the limit is reached
   */
  constructor(ms, isUncounted, late) {
    this.ms = ms;
    this.isUncounted = isUncounted;
    this.late = late;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** Count from now. */
  begin() {
    this.end();
    if (this.ms <= 0) return;
    // What the agent waits for keeps the process alive.
    this.timer = setTimeout(() => {
      if (this.isUncounted()) this.begin();
      else this.late();
    }, this.ms).unref();
  }

  end() {
    clearTimeout(this.timer);
  }
}

module.exports = { TimeLimit, limitOf };
