"use strict";

/**
 * What this agent sends itself is not intercepted. Clients start their requests
 * synchronously, so a flag around the call is enough, and costs nothing else.
 */
let depth = 0;

/**
 * @template T
 * @param {() => T} act starts requests that nobody is asked about
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
