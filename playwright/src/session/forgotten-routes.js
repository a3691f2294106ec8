"use strict";

const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");

/**
 * @typedef {object} Waiting a request whose handler returned without a decision
 * @property {boolean} isWaiting whether it is still undecided
 * @property {() => void} forgotten called when its route object was collected
 */

const FIRST_LOOK_MS = 100;
const PAUSES_PER_COLLECTION = 5;

/** It refers to the route of each request weakly, so that the route can be collected. */
const gone = new FinalizationRegistry((/** @type {Waiting} */ waiting) => waiting.forgotten());

/** The time of the last garbage collection, and the shortest pause until the next one; ms. */
let collectedAt = -Infinity;
let pause = FIRST_LOOK_MS;

/**
 * Call `waiting.forgotten` when the route object of a request is garbage: no decision can follow.
 *
 * Node collects garbage when memory is short, which may be never in a test that waits. So garbage is collected here
 * while such a request waits, after growing pauses: the request waits at most about twice as long as its route was
 * kept. A handler that decides before it returns causes none of this work.
 *
 * @param {object} route
 * @param {Waiting} waiting must not refer to the route
 */
function whenGone(route, waiting) {
  // The route of an earlier handler cannot decide any more.
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
    // One collection serves all requests that wait: one for each would block the process.
    if (collectedAt < since) collectGarbage();
    lookIn(Math.max(2 * ms, pause), waiting);
  };
  // The timer does not keep the process alive.
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
  // New contexts, which tests may make, do not have `gc`.
  setFlagsFromString("--no-expose-gc");
  return found;
}

module.exports = { whenGone };
