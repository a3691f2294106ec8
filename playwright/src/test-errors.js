"use strict";

const { TrafficMockError } = require("./errors.js");

/**
 * Throw what went wrong in a test and was not taken: one error as it is, so that its own line is shown; several as one.
 * @param {Error[]} errors
 */
function throwAll(errors) {
  if (errors.length === 0) return;
  if (errors.length === 1) throw errors[0];
  const all = new TrafficMockError(errors.map(({ message }) => message).join("\n"));
  all.stack = errors.map(({ stack, message }) => stack ?? message).join("\n");
  throw all;
}

module.exports = { throwAll };
