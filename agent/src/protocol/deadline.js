"use strict";

const { setInterval, clearInterval } = require("node:timers");

/** The step in which time is counted; ms. */
const STEP_MS = 100;

/**
 * Start a time limit that counts only while the event loop runs. While an application loads,
 * the loop may be blocked for seconds: a plain timer would then fire although the answer
 * has arrived and is only not read yet.
 *
 * @param {number} ms
 * @param {() => void} act called after this time; the timer does not keep the process alive
 * @returns {() => void} cancels it
 */
function startDeadline(ms, act) {
  let left = Math.ceil(ms / STEP_MS);
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    act();
  }, STEP_MS).unref();
  return () => clearInterval(timer);
}

module.exports = { startDeadline };
