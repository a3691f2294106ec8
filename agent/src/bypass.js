"use strict";

/**
 * How many calls of `bypass` are running: requests that start within one are the agent's own and
 * are not intercepted. Clients start their requests synchronously, so a counter is enough.
 */
let depth = 0;

/**
 * @template T
 * @param {() => T} act starts requests of the agent itself
 * @returns {T}
 */
function bypass(act) {
  depth += 1;
  try {
    return act();
  } finally {
    depth -= 1;
  }
}

/** @returns {boolean} whether the request that starts now is the agent's own */
const isBypassed = () => depth > 0;

module.exports = { bypass, isBypassed };
