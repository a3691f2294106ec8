"use strict";

const { FAULTS, PLAYWRIGHT_CODES } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");
const { suggestion } = require("./options.js");

/**
 * Reads the options that say how the answer of a handler comes.
 *
 * @typedef {{ delayMs?: number, fault?: { kind: string, after?: number }, rate?: number }} How parts of an `Answer`
 * @typedef {{ action: string, [key: string]: unknown }} Answer of `handler:result`
 */

/**
 * Read those of the options that say how an answer comes, also a real one.
 *
 * @template {object} T
 * @param {T & { delay?: number, fault?: string, after?: number, rate?: number }} options the milliseconds after which the
 *   proxy gives it; the fault with which it breaks, and the bytes of the body before; the bytes of the body in a second
 * @returns {Omit<T, "delay" | "fault" | "after" | "rate"> & { how: How }} the other options beside `how`
 * @throws {UsageError} one of them is invalid, or they exclude each other
 */
function readHow({ delay = 0, fault: kind, after, rate, ...others }) {
  const fault = readFault(kind, after);
  const delayMs = typeof delay === "number" ? Math.ceil(delay) : NaN;
  if (!Number.isSafeInteger(delayMs) || delayMs < 0) {
    throw new UsageError(`delay is milliseconds, 0 or more, not ${JSON.stringify(delay)}`);
  }
  if (rate !== undefined && fault) throw new UsageError("rate excludes fault");
  if (rate !== undefined && (!Number.isSafeInteger(rate) || rate < 1)) {
    throw new UsageError(`rate is a number of bytes in a second, 1 or more, not ${JSON.stringify(rate)}`);
  }
  const how = { ...(delayMs && { delayMs }), ...(fault && { fault }), ...(rate && { rate }) };
  return /** @type {any} */ ({ ...others, how });
}

/**
 * @param {string | undefined} kind
 * @param {number | undefined} after
 */
function readFault(kind, after) {
  if (kind === undefined) {
    if (after === undefined) return undefined;
    throw new UsageError("after is the number of bytes before a fault, and there is no fault");
  }
  if (!FAULTS.includes(kind)) {
    const near = suggestion(String(kind), FAULTS);
    const hint = near ? `did you mean ${JSON.stringify(near)}? The faults` : "the faults";
    throw new UsageError(`fault: ${JSON.stringify(kind)} is unknown; ${hint} are: ${FAULTS.join(", ")}`);
  }
  if (after === undefined) return { kind };
  if (kind === "empty_response") {
    throw new UsageError("empty_response has no body, so nothing comes after a part of it");
  }
  if (!Number.isSafeInteger(after) || after < 0) {
    throw new UsageError(`after is a number of bytes, 0 or more, not ${JSON.stringify(after)}`);
  }
  return { kind, after };
}

/**
 * @param {string} code of Playwright
 * @returns {string} the code of protocol 3
 * @throws {UsageError} another code
 */
function abortCode(code) {
  if (!Object.hasOwn(PLAYWRIGHT_CODES, code)) {
    const known = Object.keys(PLAYWRIGHT_CODES).join(", ");
    throw new UsageError(`abort: ${JSON.stringify(code)} is not an error code of Playwright; these are: ${known}`);
  }
  return PLAYWRIGHT_CODES[code];
}

module.exports = { abortCode, readHow };
