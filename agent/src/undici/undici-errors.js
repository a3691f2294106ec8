"use strict";

/**
 * Errors that undici recognizes as its own. Every copy of undici recognizes its errors by registered
 * symbols, so `instanceof` holds for these in each copy, even in Node's own, which does
 * not export its classes.
 */

/** @typedef {Error & { code: string | undefined }} UndiciError */

/**
 * @param {string} name
 * @param {string} message
 * @param {string | undefined} code
 * @param {string[]} kinds codes of the classes that it is an instance of
 * @returns {UndiciError}
 */
function undiciError(name, message, code, kinds) {
  const error = Object.assign(new Error(message), { name, code });
  for (const kind of kinds) Object.defineProperty(error, Symbol.for(`undici.error.${kind}`), { value: true });
  return error;
}

/** @returns {UndiciError} the error of a request whose server does not answer within the time limit */
const headersTimeoutError = () =>
  undiciError("HeadersTimeoutError", "Headers Timeout Error", "UND_ERR_HEADERS_TIMEOUT", [
    "UND_ERR",
    "UND_ERR_HEADERS_TIMEOUT",
  ]);

/** @returns {UndiciError} the error of a response of which no part comes within the time limit */
const bodyTimeoutError = () =>
  undiciError("BodyTimeoutError", "Body Timeout Error", "UND_ERR_BODY_TIMEOUT", ["UND_ERR", "UND_ERR_BODY_TIMEOUT"]);

/** @returns {UndiciError} the error of a request that is aborted without a reason */
const requestAbortedError = () =>
  undiciError("AbortError", "Request aborted", "UND_ERR_ABORTED", ["UND_ERR", "UND_ERR_ABORT", "UND_ERR_ABORTED"]);

/** @returns {UndiciError} the error of a response within which the server closes the connection */
const closedError = () =>
  undiciError("SocketError", "other side closed", "UND_ERR_SOCKET", ["UND_ERR", "UND_ERR_SOCKET"]);

/**
 * @param {any} dispatcher of the request
 * @returns {UndiciError} the error of a response whose chunks are not those of HTTP
 */
const malformedError = (dispatcher) =>
  undiciError(
    "HTTPParserError",
    "Response does not match the HTTP/1.1 protocol (Invalid character in chunk size)",
    // From version 7 on, whose dispatchers have no `interceptors`, undici does not find the code.
    "interceptors" in dispatcher ? "HPE_INVALID_CHUNK_SIZE" : undefined,
    ["UND_ERR", "UND_ERR_HTTP_PARSER"],
  );

/** @returns {UndiciError} the error of a request whose body has another length than it declares */
const lengthMismatchError = () =>
  undiciError(
    "RequestContentLengthMismatchError",
    "Request body length does not match content-length header",
    "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH",
    ["UND_ERR", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"],
  );

module.exports = {
  bodyTimeoutError,
  closedError,
  lengthMismatchError,
  malformedError,
  headersTimeoutError,
  requestAbortedError,
};
