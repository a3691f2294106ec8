"use strict";

const { resolve } = require("node:path");
const { ACK_MS, DEFAULT_PROXY_URL, REPORT } = require("trafficmock-agent/protocol/facts");
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

/**
 * The proxy of a project; the options with the names of the npm package count if the others are not set.
 *
 * @param {Record<string, any>} use the options of the project
 * @returns {{ proxyUrl: string, token?: string }}
 * @throws {UsageError} its address is not an `http` or `https` URL
 */
function proxyOf({ trafficmockProxyUrl, trafficmockToken, backendMocksProxyUrl, backendMocksToken }) {
  return {
    proxyUrl: checkedProxyUrl(trafficmockProxyUrl ?? backendMocksProxyUrl ?? defaultProxyUrl()),
    token: trafficmockToken ?? backendMocksToken ?? defaultToken(),
  };
}

/** @returns {string | undefined} the proxy's `--token` */
const defaultToken = () => process.env.TRAFFICMOCK_TOKEN || process.env.PLAYWRIGHT_BACKEND_MOCKS_TOKEN || undefined;

/**
 * @returns {boolean} whether tests attach their own process, where nothing else is said
 * @throws {UsageError} the variable is neither 0 nor 1
 */
function defaultAttachSelf() {
  const given = process.env.TRAFFICMOCK_ATTACH_SELF || "0";
  if (given === "0" || given === "1") return given === "1";
  throw new UsageError(`TRAFFICMOCK_ATTACH_SELF must be 0 or 1, not ${JSON.stringify(given)}`);
}

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

/**
 * The report of a run, as `trafficmock/report/report_settings.py` reads it.
 *
 * @typedef {object} ReportSettings
 * @property {string} directory
 * @property {string} mode `retain-on-failure` or `on`
 * @property {number} bodyBytes the most bytes of each body and each frame
 * @property {string[]} redact what is secret besides fields of known names, or `off`
 */

/**
 * @returns {ReportSettings | undefined} `undefined` if no report is wanted
 * @throws {UsageError} a variable is invalid
 */
function reportSettings() {
  const { env } = process;
  const mode = env.TRAFFICMOCK_REPORT_MODE || REPORT.modes[0];
  if (!REPORT.modes.includes(mode)) {
    throw new UsageError(`the mode of a report is ${REPORT.modes.join(", ")}; not ${JSON.stringify(mode)}`);
  }
  if (!env.TRAFFICMOCK_REPORT || mode === "off") return undefined;
  const given = env.TRAFFICMOCK_REPORT_BODY_BYTES || String(REPORT.bodyBytes);
  const bodyBytes = Number(given);
  if (!/^\d{1,9}$/.test(given) || bodyBytes > REPORT.mostBodyBytes) {
    const range = `a number from 0 to ${REPORT.mostBodyBytes}`;
    throw new UsageError(`TRAFFICMOCK_REPORT_BODY_BYTES is ${range}, not ${JSON.stringify(given)}`);
  }
  return { directory: resolve(env.TRAFFICMOCK_REPORT), mode, bodyBytes, redact: addedSecrets() };
}

/** @returns {string[]} what is secret in reports besides fields of known names, such as `query:shop`; or `off` */
const addedSecrets = () => (process.env.TRAFFICMOCK_REPORT_REDACT ?? "").split(/\s+/).filter(Boolean);

module.exports = {
  ackTimeoutMs,
  addedSecrets,
  checkedProxyUrl,
  defaultAttachSelf,
  defaultProxyUrl,
  defaultToken,
  proxyOf,
  reportSettings,
  tellProxyUrl,
};
