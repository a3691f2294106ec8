"use strict";

const { UsageError } = require("../errors.js");
const headers = require("./headers.js");

/**
 * The changes of one handler to a request; the proxy adds them to those of the handlers before.
 *
 * @typedef {import("./headers.js").Pairs} Pairs
 * @typedef {import("../../index.js").ContinueOptions} ContinueOptions
 *
 * @typedef {object} Overrides an absent part is unchanged
 * @property {string} [url]
 * @property {string} [method]
 * @property {Pairs} [pairs]
 * @property {Buffer} [body] an empty one removes the body
 * @property {string} [bodyType] the default content type of the body
 */

const JSON_TYPE = "application/json";
const BYTES_TYPE = "application/octet-stream";

/**
 * Convert the argument `postData` to bytes. Objects become JSON; `null`,
 * `false` and 0 change nothing (Playwright's rule).
 *
 * @param {unknown} postData
 * @returns {Pick<Overrides, "body" | "bodyType">}
 */
function readBody(postData) {
  if (typeof postData === "string") return { body: Buffer.from(postData), bodyType: BYTES_TYPE };
  if (postData instanceof Uint8Array) return { body: Buffer.from(postData), bodyType: BYTES_TYPE };
  return postData ? { body: Buffer.from(JSON.stringify(postData)), bodyType: JSON_TYPE } : {};
}

/**
 * Read a handler's changes. An empty URL or method and `null` change nothing (Playwright's rule).
 *
 * @param {ContinueOptions} options
 * @returns {Overrides}
 * @throws {UsageError} the URL, the method or the value of a header is not a string
 */
function read({ url, method, headers: given, postData }) {
  return {
    ...(url && { url: textOf("url", url) }),
    ...(method && { method: headers.method(textOf("method", method)) }),
    ...(given && { pairs: headers.checked(headers.strict(given)) }),
    ...readBody(postData),
  };
}

/**
 * @param {string} name of the option
 * @param {unknown} value
 */
function textOf(name, value) {
  if (typeof value === "string") return value;
  throw new UsageError(`${name} must be a string, not ${typeof value}`);
}

/**
 * Check that the request keeps its scheme (Playwright's rule).
 *
 * @param {import("../session/request-state.js").RequestState} request
 * @param {Overrides} overrides
 * @throws {UsageError} the new URL has another scheme, or it is not a URL
 */
function checkScheme({ wire, shownUrl }, { url }) {
  if (url === undefined) return;
  if (!URL.canParse(url)) throw invalidUrl(url);
  const { protocol } = new URL(url);
  if (protocol !== new URL(wire.url).protocol) {
    throw new UsageError(`New URL must have same protocol as overridden URL: ${protocol} for ${shownUrl}`);
  }
}

/**
 * @param {string} url that a test wrote, and that is none
 * @returns {UsageError} with what stands before its query alone, because only the proxy knows what is secret
 */
function invalidUrl(url) {
  const shown = url.replace(/#.*/s, "").replace(/\?.*/s, "?…");
  return new UsageError(`invalid URL: ${JSON.stringify(shown.replace(/^([^/?]*\/\/)?[^/?]*@/, "$1...@"))}`);
}

/**
 * @param {Overrides} overrides
 * @returns {object | undefined} the overrides for the proxy; `undefined` without changes
 */
function toWire(overrides) {
  const { url, method, pairs, body, bodyType } = overrides;
  if (Object.keys(overrides).length === 0) return undefined;
  return {
    ...(url !== undefined && { url }),
    ...(method !== undefined && { method }),
    ...(pairs && headers.toWire(pairs)),
    ...(body && { bodyBase64: body.length ? body.toString("base64") : null, contentType: bodyType }),
  };
}

module.exports = { BYTES_TYPE, JSON_TYPE, checkScheme, invalidUrl, read, readBody, toWire };
