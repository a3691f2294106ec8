"use strict";

/**
 * Errors that count as undici's own. Every copy of undici recognizes its errors by registered
 * symbols, so that `instanceof` holds for these in each of them, also in the
 * one within Node, which shows its classes to nobody.
 */

/** @typedef {Error & { code: string }} UndiciError */

/**
 * @param {string} name
 * @param {string} message
 * @param {string} code
 * @param {string[]} kinds codes of the classes that it is an instance of
 * @returns {UndiciError}
 */
function undiciError(name, message, code, kinds) {
  const error = Object.assign(new Error(message), { name, code });
  for (const kind of kinds) Object.defineProperty(error, Symbol.for(`undici.error.${kind}`), { value: true });
  return error;
}

/** @returns {UndiciError} what a request fails with whose server does not answer in time */
const headersTimeoutError = () =>
  undiciError("HeadersTimeoutError", "Headers Timeout Error", "UND_ERR_HEADERS_TIMEOUT", [
    "UND_ERR",
    "UND_ERR_HEADERS_TIMEOUT",
  ]);

/** @returns {UndiciError} what a request fails with that is aborted without a reason */
const requestAbortedError = () =>
  undiciError("AbortError", "Request aborted", "UND_ERR_ABORTED", ["UND_ERR", "UND_ERR_ABORT", "UND_ERR_ABORTED"]);

module.exports = { headersTimeoutError, requestAbortedError };
