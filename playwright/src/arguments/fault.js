"use strict";

const { FAULTS } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");
const { suggestion } = require("./options.js");

/**
 * Read the options `fault` and `after` of an answer.
 *
 * @param {string | undefined} kind
 * @param {number | undefined} after
 * @returns {{ fault?: { kind: string, after?: number } }} for the message to the proxy
 * @throws {UsageError} there is no such fault, or `after` is no number of bytes
 */
function readFault(kind, after) {
  if (kind === undefined) {
    if (after === undefined) return {};
    throw new UsageError("after is the number of bytes before a fault, and there is no fault");
  }
  if (!FAULTS.includes(kind)) {
    const near = suggestion(String(kind), FAULTS);
    const hint = near ? `did you mean ${JSON.stringify(near)}? The faults` : "the faults";
    throw new UsageError(`fault: ${JSON.stringify(kind)} is unknown; ${hint} are: ${FAULTS.join(", ")}`);
  }
  if (after === undefined) return { fault: { kind } };
  if (kind === "empty_response") {
    throw new UsageError("empty_response has no body, so nothing comes after a part of it");
  }
  if (!Number.isSafeInteger(after) || after < 0) {
    throw new UsageError(`after is a number of bytes, 0 or more, not ${JSON.stringify(after)}`);
  }
  return { fault: { kind, after } };
}

/**
 * Read the option `rate` of an answer.
 *
 * @param {number | undefined} rate bytes in a second
 * @param {{ fault?: object }} [breaks] how the answer breaks, if it does
 * @returns {{ rate?: number }} for the message to the proxy
 * @throws {UsageError} it is no number of bytes, or there is a fault, too
 */
function readRate(rate, breaks) {
  if (rate === undefined) return {};
  if (breaks?.fault) throw new UsageError("rate excludes fault");
  if (!Number.isSafeInteger(rate) || rate < 1) {
    throw new UsageError(`rate is a number of bytes in a second, 1 or more, not ${JSON.stringify(rate)}`);
  }
  return { rate };
}

module.exports = { readFault, readRate };
