"use strict";

const { UsageError } = require("./errors.js");

/** The proxy's settings in the environment; the npm packages' variables count if those of this package are not set. */

const DEFAULT_URL = "http://127.0.0.1:4310";

/** @returns {string} the base URL of the proxy */
const defaultProxyUrl = () =>
  process.env.TRAFFICMOCK_PROXY_URL || process.env.PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL || DEFAULT_URL;

/** @returns {string | undefined} the proxy's `--token` */
const defaultToken = () => process.env.TRAFFICMOCK_TOKEN || process.env.PLAYWRIGHT_BACKEND_MOCKS_TOKEN || undefined;

/** How long the proxy may take to acknowledge what a test asks of it; ms. */
const ACK_MS = 5000;

/**
 * @returns {number} milliseconds
 * @throws {UsageError} when the variable is not a number of milliseconds
 */
function ackTimeoutMs() {
  const given = process.env.TRAFFICMOCK_ACK_TIMEOUT_MS || String(ACK_MS);
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new UsageError(
    `TRAFFICMOCK_ACK_TIMEOUT_MS must be a number of milliseconds above 0, not ${JSON.stringify(given)}`,
  );
}

/**
 * @param {string} url
 * @returns {string} the base URL of a proxy, without a slash at its end
 */
function checkedProxyUrl(url) {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`the proxy's address is a URL such as ${DEFAULT_URL}, not ${JSON.stringify(url)}`);
  }
  return url.replace(/\/$/, "");
}

module.exports = { ackTimeoutMs, checkedProxyUrl, defaultProxyUrl, defaultToken };
