"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { internal } = require("../process/internals.js");

/** undici's default; ms. */
const DEFAULT_MS = 300e3;

/**
 * @param {any} dispatcher
 * @param {any} opts of the dispatch
 * @returns {number} the time limit for the head of a response; ms, 0 for none
 */
function headersTimeout(dispatcher, opts) {
  return opts.headersTimeout ?? ofDispatcher(dispatcher) ?? DEFAULT_MS;
}

/**
 * @param {any} dispatcher
 * @returns {number | undefined}
 */
function ofDispatcher(dispatcher) {
  const inner = internal(dispatcher, "proxy agent");
  return (
    internal(dispatcher, "headers timeout") ??
    internal(dispatcher, "options")?.headersTimeout ??
    (inner && ofDispatcher(inner))
  );
}

/** The time limit for the head of a response, while a request waits for its decision. */
class HeadersTimeout {
  /**
   * @param {number} ms 0 for no limit
   * @param {() => boolean} isWriting whether the application still writes the request; undici does not count that time
   * @param {() => void} late called when the limit is reached
   */
  constructor(ms, isWriting, late) {
    this.ms = ms;
    this.isWriting = isWriting;
    this.late = late;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  begin() {
    if (this.ms <= 0) return;
    this.timer = setTimeout(() => {
      if (this.isWriting()) this.begin();
      else this.late();
    }, this.ms);
  }

  end() {
    clearTimeout(this.timer);
  }
}

module.exports = { HeadersTimeout, headersTimeout };
