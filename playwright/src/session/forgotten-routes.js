"use strict";

const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");

/**
 * @typedef {object} Waiting a request whose handler returned without a decision
 * @property {boolean} isWaiting whether it is still undecided
 * @property {() => void} forgotten called when nobody has its route any more
 */

const FIRST_LOOK_MS = 100;
const PAUSES_PER_COLLECTION = 5;

/** Its entries name the route of each request only weakly, or no route would ever go. */
const gone = new FinalizationRegistry((/** @type {Waiting} */ waiting) => waiting.forgotten());

/** When garbage was collected last, and how long to wait at least until the next time, in ms. */
let collectedAt = -Infinity;
let pause = FIRST_LOOK_MS;

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
  // An earlier handler's route no longer decides.
  gone.unregister(waiting);
  gone.register(route, waiting, waiting);
  lookIn(pause, waiting);
}

/**
 * @param {number} ms
 * @param {Waiting} waiting
 */
function lookIn(ms, waiting) {
  const since = performance.now();
  const look = () => {
    if (!waiting.isWaiting) return;
    // One collection serves all requests that waited by then, or many of them would stop the process.
    if (collectedAt < since) collectGarbage();
    lookIn(Math.max(2 * ms, pause), waiting);
  };
  // It is no reason for the process to live.
  setTimeout(look, ms).unref();
}

/** @type {(() => void) | undefined} */
let gc = globalThis.gc;

function collectGarbage() {
  gc ??= exposedGc();
  const began = performance.now();
  gc();
  collectedAt = performance.now();
  pause = Math.max(FIRST_LOOK_MS, PAUSES_PER_COLLECTION * (collectedAt - began));
}

/** @returns {() => void} */
function exposedGc() {
  setFlagsFromString("--expose-gc");
  const found = runInNewContext("gc");
  // Contexts that tests make have none.
  setFlagsFromString("--no-expose-gc");
  return found;
}

module.exports = { whenGone };
