"use strict";

const { UsageError } = require("../errors.js");

/** Playwright's error codes, with the code of protocol 3 for each. */
const ABORT_CODES = /** @type {Record<string, string>} */ ({
  aborted: "aborted",
  accessdenied: "failed",
  addressunreachable: "failed",
  blockedbyclient: "failed",
  blockedbyresponse: "failed",
  connectionaborted: "failed",
  connectionclosed: "failed",
  connectionfailed: "failed",
  connectionrefused: "connectionrefused",
  connectionreset: "connectionreset",
  failed: "failed",
  internetdisconnected: "failed",
  namenotresolved: "namenotresolved",
  timedout: "timedout",
});

/**
 * @param {string} code of Playwright
 * @returns {string} the code of protocol 3
 * @throws {UsageError} another code
 */
function abortCode(code) {
  if (!Object.hasOwn(ABORT_CODES, code)) {
    const known = Object.keys(ABORT_CODES).join(", ");
    throw new UsageError(`abort: ${JSON.stringify(code)} is not an error code of Playwright; these are: ${known}`);
  }
  return ABORT_CODES[code];
}

module.exports = { abortCode };
