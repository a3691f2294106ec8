"use strict";

const { PLAYWRIGHT_CODES } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");

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

module.exports = { abortCode };
