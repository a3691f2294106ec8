"use strict";

const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");

/**
 * @typedef {object} Waiting a request whose handler returned without a decision
 * @property {boolean} isWaiting whether it is still undecided
 * @property {() => void} forgotten called when nobody has its route any more
 */

const FIRST_LOOK_MS = 100;

/** Its entries name the route of each request only weakly, or no route would ever go. */
const gone = new FinalizationRegistry((/** @type {Waiting} */ waiting) => waiting.forgotten());

/**
 * Tell a request when its route is garbage: from then on nobody can decide it.
 *
 * Garbage is collected when memory is short, which may be never in a test that waits. So it is collected now and then
 * while such a request waits, after ever longer pauses: a request waits at most about twice as long as its route was
 * kept. A handler that decides in time causes none of this work.
 *
 * @param {object} route
 * @param {Waiting} waiting does not hold the route
 */
function whenGone(route, waiting) {
  gone.register(route, waiting);
  lookIn(FIRST_LOOK_MS, waiting);
}

/**
 * @param {number} ms
 * @param {Waiting} waiting
 */
function lookIn(ms, waiting) {
  const look = () => {
    if (!waiting.isWaiting) return;
    collectGarbage();
    lookIn(2 * ms, waiting);
  };
  // It is no reason for the process to live.
  setTimeout(look, ms).unref();
}

/** @type {(() => void) | undefined} */
let gc;

function collectGarbage() {
  if (!gc) {
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc");
  }
  gc?.();
}

module.exports = { whenGone };
