"use strict";

const { UsageError } = require("../errors.js");

/**
 * Read the option `delay` of a decision or a mock.
 *
 * @param {number | undefined} delay
 * @returns {number | undefined} whole milliseconds for the proxy; `undefined` without a delay
 * @throws {UsageError} it is not a number, or it is negative
 */
function readDelay(delay = 0) {
  const whole = typeof delay === "number" ? Math.ceil(delay) : NaN;
  if (!Number.isSafeInteger(whole) || whole < 0) {
    throw new UsageError(`delay is milliseconds, 0 or more, not ${JSON.stringify(delay)}`);
  }
  return whole || undefined;
}

module.exports = { readDelay };
