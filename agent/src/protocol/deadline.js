"use strict";

const { setInterval, clearInterval } = require("node:timers");

/** How often time is counted; ms. */
const STEP_MS = 100;

/**
 * A deadline that counts the time in which this process could have read an
 * answer. While an application loads, nothing is read for seconds, and a plain
 * timer would then fire although the answer has arrived and is only not read yet.
 *
 * @param {number} ms
 * @param {() => void} act called when they are over; never keeps the process alive
 * @returns {() => void} ends it
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
