"use strict";

const { performance } = require("node:perf_hooks");

/** Node's own clock, kept because tests of applications replace it. */
const CLOCK = {
  now: performance.now.bind(performance),
  /** A timer that does not keep the process alive. */
  after: (/** @type {number} */ ms, /** @type {() => void} */ act) => void schedule(act, ms).unref(),
};
const schedule = setTimeout;

/** How many contexts are kept, the latest ones. */
const KNOWN_IDS = 1000;

/** @typedef {import('./test-contexts.js').TestContext} TestContext */

/**
 * The contexts of inbound requests by id, for tracers, which carry only the id.
 * A context is forgotten `lastingMs` after its inbound request is over.
 */
class KnownContexts {
  /**
   * @param {number} lastingMs how long a context counts after its inbound request; ms
   * @param {typeof CLOCK} [clock]
   */
  constructor(lastingMs, clock = CLOCK) {
    this.lastingMs = lastingMs;
    this.clock = clock;
    /** The latest context of each id. @type {Map<string, TestContext>} */
    this.byId = new Map();
    /** Contexts among them whose inbound request has ended, oldest end first. @type {Set<TestContext>} */
    this.closed = new Set();
    this.isWaiting = false;
  }

  /** @param {TestContext} context of an inbound request that begins */
  add(context) {
    this.forget(this.byId.get(context.id));
    this.byId.set(context.id, context);
    if (this.byId.size > KNOWN_IDS) this.forget(this.byId.values().next().value);
  }

  /** @param {TestContext} context whose inbound request is over */
  close(context) {
    // A test of this process lasts longer than the requests that carry its context.
    if (context.isRunning) return;
    context.closedAt = this.clock.now();
    if (this.byId.get(context.id) !== context) return;
    this.closed.add(context);
    this.wait();
  }

  /**
   * @param {TestContext} context
   * @returns {boolean} whether its inbound request was over more than `lastingMs` ago
   */
  isOver({ closedAt }) {
    return closedAt !== undefined && this.clock.now() - closedAt > this.lastingMs;
  }

  /** @param {TestContext | undefined} context */
  forget(context) {
    if (!context) return;
    this.byId.delete(context.id);
    this.closed.delete(context);
  }

  /** Start a timer that forgets the contexts that are over. */
  wait() {
    const [first] = this.closed;
    if (!first || this.isWaiting) return;
    this.isWaiting = true;
    const left = this.lastingMs - (this.clock.now() - /** @type {number} */ (first.closedAt));
    this.clock.after(Math.max(Math.ceil(left) + 1, 1), () => {
      this.isWaiting = false;
      for (const context of this.closed) {
        if (!this.isOver(context)) break;
        this.forget(context);
      }
      this.wait();
    });
  }
}

module.exports = { KnownContexts };
