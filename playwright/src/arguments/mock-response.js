"use strict";

const { readFile } = require("node:fs/promises");
const { STATUS_CODES } = require("node:http");
const mime = require("mime-types");
const { FINAL_STATUSES } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");
const headers = require("./headers.js");
const { BYTES_TYPE, JSON_TYPE } = require("./request-overrides.js");

/**
 * Makes a response from the arguments of `fulfill` (Playwright's rules).
 *
 * @typedef {import("../../index.js").FulfillOptions} FulfillOptions
 * @typedef {import("./headers.js").Pairs} Pairs
 * @typedef {import("../session/response-state.js").ResponseState} ResponseState
 *
 * @typedef {Omit<FulfillOptions, "response" | "path" | "body" | "json">
 *   & { content?: Buffer, naturalType?: string, response?: ResponseState, pairs?: Pairs }} Mock `pairs` replace
 *   `headers` and may have repeats; `naturalType` is the content type unless `contentType` is given
 */

/** The reason phrase of a status line (RFC 9112, section 4), as latin-1. */
const STATUS_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Read the body that a test passes.
 *
 * @param {FulfillOptions} options
 * @returns {Promise<Pick<Mock, "content" | "naturalType">>}
 * @throws {UsageError} both `body` and `json` are given, or one of them has a wrong type
 */
async function readContent({ body, json, path }) {
  if (json !== undefined && body !== undefined) throw new UsageError("Can specify either body or json parameters");
  if (path !== undefined) {
    // With `json` as well, the file is the body, and the content type that of JSON (Playwright's rule).
    const naturalType = json === undefined ? mime.lookup(path) || BYTES_TYPE : JSON_TYPE;
    return { content: await readFile(path), naturalType };
  }
  if (json !== undefined) return { content: jsonOf(json), naturalType: JSON_TYPE };
  if (body === undefined) return {};
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    const hint = body === null ? "for an empty body leave it out" : "for objects there is json";
    throw new UsageError(`body must be a string or a Buffer, not ${body === null ? "null" : typeof body}; ${hint}`);
  }
  return { content: Buffer.from(/** @type {any} */ (body)) };
}

/** @param {unknown} value */
function jsonOf(value) {
  const text = JSON.stringify(value);
  if (text === undefined) throw new UsageError(`json cannot be a ${typeof value}`);
  return Buffer.from(text);
}

/**
 * Make the response that a mock describes.
 *
 * @param {Mock} mock
 * @param {string} url of the request, for a mock that is not based on a fetched response
 * @returns {{ url: string, [key: string]: unknown }} a `SerializedResponse` of protocol 3
 * @throws {UsageError} HTTP cannot carry a value, or `response` was disposed
 */
function build(mock, url) {
  const { response } = mock;
  if (response?.isDisposed) throw new UsageError("the response given to fulfill has been disposed");
  const status = statusOf(mock);
  const bodyBase64 = mock.content ? mock.content.toString("base64") || null : (response?.wire.bodyBase64 ?? null);
  return {
    status,
    statusText: statusTextOf(mock, status),
    ...headers.toWire(headers.checked(pairsOf(mock, bodyBase64))),
    bodyBase64,
    url: response ? response.url : url,
  };
}

/** @param {Mock} mock */
function statusOf({ status, response }) {
  // In Playwright, 0 counts as no status.
  const given = (status ?? response?.wire.status) || 200;
  const { first, last } = FINAL_STATUSES;
  if (!Number.isInteger(given) || given < first || given > last) {
    throw new UsageError(`status must be an integer from ${first} to ${last}, not ${JSON.stringify(given)}`);
  }
  return given;
}

/**
 * @param {Mock} mock
 * @param {number} status
 */
function statusTextOf({ statusText, response }, status) {
  const inherited = response && response.wire.status === status ? response.wire.statusText : "";
  const text = statusText || inherited || STATUS_CODES[status] || "";
  if (typeof text !== "string" || !STATUS_TEXT.test(text)) {
    const given = JSON.stringify(text);
    throw new UsageError(`statusText must be text within latin-1 without control characters, not ${given}`);
  }
  return text;
}

/**
 * @param {Mock} mock
 * @param {string | null} bodyBase64
 * @returns {Pairs}
 */
function pairsOf(mock, bodyBase64) {
  const given = mock.pairs ?? (mock.headers && headers.lenient(mock.headers));
  let pairs = given ?? mock.response?.pairs ?? [];
  if (!given && mock.content) pairs = headers.without(pairs, "content-length");
  pairs = headers.without(pairs, "transfer-encoding");
  const type = mock.contentType ?? mock.naturalType;
  if (type !== undefined && typeof type !== "string") {
    throw new UsageError(`contentType must be text, not ${JSON.stringify(type)}`);
  }
  if (type !== undefined) pairs = [...headers.without(pairs, "content-type"), ["content-type", type]];
  if (bodyBase64 && headers.get(pairs, "content-length") === undefined) {
    pairs = [...pairs, ["content-length", String(Buffer.byteLength(bodyBase64, "base64"))]];
  }
  return pairs;
}

module.exports = { build, readContent };
