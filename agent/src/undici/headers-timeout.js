"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { internal } = require("../process/internals.js");

/** undici's own default; ms. */
const DEFAULT_MS = 300e3;

/**
 * @param {any} dispatcher
 * @param {any} opts of the dispatch
 * @returns {number} ms that undici would wait for the head of a response; 0 for ever
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

/** Counts the time in which a server would have to answer, while nobody has decided yet. */
class HeadersTimeout {
  /**
   * @param {number} ms 0 for ever
   * @param {() => boolean} isWriting whether the request is still being sent, for which undici does not time it
   * @param {() => void} late called when it is over
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
