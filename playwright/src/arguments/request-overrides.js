"use strict";

const { UsageError } = require("../errors.js");
const headers = require("./headers.js");

/**
 * The changes of handlers to a request; each fallback adds to those before.
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
 * Add a handler's changes; a part that it gives replaces the earlier one. An empty URL or method and `null` change nothing
 * (Playwright's rule).
 *
 * @param {Overrides} before
 * @param {ContinueOptions} options
 * @returns {Overrides}
 * @throws {UsageError} the URL, the method or the value of a header is not a string
 */
function merge(before, { url, method, headers: given, postData }) {
  return {
    ...before,
    ...(url && { url: textOf("url", url) }),
    ...(method && { method: textOf("method", method) }),
    ...(given && { pairs: headers.strict(given) }),
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
 * @param {string} original URL of the request
 * @param {Overrides} overrides
 * @throws {UsageError} the new URL has another scheme, or it is not a URL
 */
function checkScheme(original, { url }) {
  if (url === undefined) return;
  if (!URL.canParse(url)) throw new UsageError(`invalid URL: ${JSON.stringify(url)}`);
  if (new URL(url).protocol !== new URL(original).protocol) {
    throw new UsageError(`New URL must have same protocol as overridden URL: ${url} for ${original}`);
  }
}

/** @param {Overrides} overrides */
const isEmpty = (overrides) => Object.keys(overrides).length === 0;

/**
 * @param {Pairs} original headers of the request
 * @param {Overrides} overrides
 * @returns {object | undefined} the overrides for the proxy; `undefined` without changes
 */
function forContinue(original, overrides) {
  if (isEmpty(overrides)) return undefined;
  let pairs = overrides.pairs && headers.forContinue(original, overrides.pairs);
  if (overrides.body) pairs = withLength(pairs ?? original, overrides.body);
  return toWire(overrides, pairs);
}

/**
 * Convert the overrides of a handler's fetch, where no header is forbidden.
 *
 * @param {Pairs} original
 * @param {Overrides} overrides
 */
function forFetch(original, overrides) {
  if (isEmpty(overrides)) return undefined;
  let { pairs, body } = overrides;
  if (body) {
    pairs ??= original;
    const type = headers.get(pairs, "content-type");
    if (type === undefined) pairs = [...pairs, ["content-type", overrides.bodyType ?? BYTES_TYPE]];
    else if (type === JSON_TYPE) body = asJson(body);
    pairs = withLength(pairs, body);
  }
  return toWire({ ...overrides, body }, pairs);
}

/**
 * Convert a text that is not JSON to a JSON string: the content type says JSON.
 * @param {Buffer} body
 */
function asJson(body) {
  if (body.length === 0) return body;
  try {
    JSON.parse(body.toString());
    return body;
  } catch {
    return Buffer.from(JSON.stringify(body.toString()));
  }
}

/**
 * @param {Pairs} pairs
 * @param {Buffer} body
 * @returns {Pairs}
 */
function withLength(pairs, body) {
  const rest = headers.without(pairs, "content-length");
  return body.length ? [...rest, ["content-length", String(body.length)]] : rest;
}

/**
 * @param {Overrides} overrides
 * @param {Pairs | undefined} pairs
 */
function toWire({ url, method, body }, pairs) {
  return {
    ...(url !== undefined && { url }),
    ...(method !== undefined && { method }),
    ...(pairs && headers.toWire(pairs)),
    ...(body && { bodyBase64: body.length ? body.toString("base64") : null }),
  };
}

module.exports = { BYTES_TYPE, JSON_TYPE, checkScheme, forContinue, forFetch, merge, readBody };
