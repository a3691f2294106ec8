"use strict";

const { ACK_MS, DEFAULT_PROXY_URL } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("./errors.js");

/** The proxy's settings in the environment. The npm packages' variables count if those of this package are not set. */

/** @returns {string} the base URL of the proxy */
const defaultProxyUrl = () =>
  process.env.TRAFFICMOCK_PROXY_URL || process.env.PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL || DEFAULT_PROXY_URL;

/**
 * Tell the fixtures, and the processes that this one starts, where the proxy is.
 * @param {string | undefined} proxyUrl that the configuration gives; by default nothing changes
 */
function tellProxyUrl(proxyUrl) {
  if (proxyUrl !== undefined) process.env.TRAFFICMOCK_PROXY_URL = checkedProxyUrl(proxyUrl);
}

/** @returns {string | undefined} the proxy's `--token` */
const defaultToken = () => process.env.TRAFFICMOCK_TOKEN || process.env.PLAYWRIGHT_BACKEND_MOCKS_TOKEN || undefined;

/**
 * @returns {number} the time limit of the proxy's acknowledgements; ms
 * @throws {UsageError} the variable is not a number of milliseconds above 0
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
 * @returns {string} the URL, without a slash at its end
 * @throws {UsageError} it is not an `http` or `https` URL
 */
function checkedProxyUrl(url) {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`the proxy's address is a URL such as ${DEFAULT_PROXY_URL}, not ${JSON.stringify(url)}`);
  }
  return url.replace(/\/$/, "");
}

module.exports = { ackTimeoutMs, checkedProxyUrl, defaultProxyUrl, defaultToken, tellProxyUrl };
