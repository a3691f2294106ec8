"use strict";

const { callersOf } = require("../process/callers.js");
const { FRAMES, placesIn } = require("./request-origin.js");
const { wholeOf } = require("./wakes.js");

/** @typedef {import('./test-contexts.js').TestContext} TestContext */
/** @typedef {import('./test-contexts.js').TestContexts} TestContexts */

const { nextTick } = process;

/** How many requests of a context are kept, the latest ones. */
const MOST_SENT = 32;

/**
 * Where a request was sent from.
 *
 * @typedef {object} Sent
 * @property {{ stack?: string }} callers
 * @property {number} turn the number of the callback of a promise that ran
 * @property {number} tick the number of the tick
 * @property {ReturnType<typeof placesIn>} [places] the lines of the application among the callers, once they are read
 */

/**
 * Work that goes on after its request, and for whose jobs nobody waits: a queue that answers at once, and whose loop the
 * first request starts; a listener of a port, a worker thread, a process or a socket that it has made. No promise shows whose
 * jobs they are (`wakes.js`). What shows is that the work comes back to the same place: the request is answered, and a
 * request is sent in its context for the second time from the same line of the application. That is the line at which
 * Node has called the application, and where other functions wait for what it has called, also theirs. From then on the work
 * counts as nobody's while other tests are known. Requests for which no line of the application is known are all from one
 * place. What one line sends after the other is the request's own, and so is what one callback sends.
 */
class Loops {
  /** @param {TestContexts} contexts */
  constructor(contexts) {
    this.contexts = contexts;
    /** The number of the tick, as far as requests are sent in it. */
    this.tick = 0;
    this.isTicking = false;
  }

  /**
   * Note that a request is sent now.
   * @param {Function} callee is left out of its callers
   */
  sends(callee) {
    const { contexts } = this;
    const entered = contexts.entered();
    // Baggage leads to the latest request of its test.
    const here = contexts.storage.getStore();
    const found = here?.id === entered?.id ? here : entered;
    const context = found && wholeOf(found);
    // A test of this process works for itself alone.
    if (!context || context.isLoop || context.isRunning !== undefined) return;
    /** @type {Sent} */
    const sent = { callers: callersOf(callee, FRAMES), turn: contexts.wakes.turn, tick: this.thisTick() };
    context.sent ??= [];
    if (isAnswered(context) && contexts.isOneOfSeveral(context)) {
      context.isLoop = context.sent.some((one) => isAgain(sent, one));
    }
    context.sent.push(sent);
    if (context.sent.length > MOST_SENT) context.sent.shift();
  }

  /** @returns {number} the number of the tick: the events of a port have all one id in Node */
  thisTick() {
    if (!this.isTicking) {
      this.isTicking = true;
      nextTick(() => {
        this.isTicking = false;
        this.tick += 1;
      });
    }
    return this.tick;
  }
}

/** @param {TestContext} context */
const isAnswered = ({ isAnswered, closedAt }) => isAnswered === true || closedAt !== undefined;

/**
 * @param {Sent} sent
 * @param {Sent} earlier
 * @returns {boolean} whether the earlier one came from where the code begins that sends this one
 */
function isAgain(sent, earlier) {
  if (sent.turn === earlier.turn && sent.tick === earlier.tick) return false;
  const [places, before] = [placesOf(sent), placesOf(earlier)];
  const lines = new Set(before.map(({ line }) => line));
  // Where Node has called the application: what that calls may be another function for each job.
  const called = places.findLastIndex(({ isWaiting }) => !isWaiting);
  return places.slice(Math.max(called, 0)).every(({ line }) => lines.has(line));
}

/** @param {Sent} sent */
function placesOf(sent) {
  sent.places ??= placesIn(sent.callers);
  return sent.places;
}

module.exports = { Loops };
