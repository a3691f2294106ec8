"use strict";

const { PLAYWRIGHT_CODES } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");

/** What tests send in a streamed answer, as bytes. */

/**
 * @param {unknown} data an argument of `send`
 * @returns {Buffer} text as UTF-8
 * @throws {UsageError} it is neither text nor bytes
 */
function contentOf(data) {
  if (typeof data === "string" || data instanceof Uint8Array) return Buffer.from(/** @type {any} */ (data));
  const given = data === null ? "null" : typeof data;
  throw new UsageError(
    `send takes a string or a Buffer, not ${given}: for objects there are jsonLine and sse({ json: … })`,
  );
}

/**
 * @param {unknown} value
 * @returns {Buffer} the value as one line of JSON (NDJSON)
 * @throws {UsageError} JSON cannot express it
 */
const jsonLine = (value) => Buffer.from(`${jsonText("jsonLine", value)}\n`);

/**
 * Make an event of a stream of server-sent events (HTML standard, section 9.2).
 *
 * @param {import("../../index.js").ServerSentEvent} event
 * @returns {Buffer}
 * @throws {UsageError} a value cannot be sent in an event
 */
function serverSentEvent({ data, event, id, retry, json } = {}) {
  if (data !== undefined && json !== undefined) throw new UsageError("sse takes either data or json");
  const lines = [];
  for (const [name, value] of Object.entries({ event, id })) {
    if (value === undefined) continue;
    checkText(name, value);
    if (/[\r\n\0]/.test(value)) {
      throw new UsageError(`sse: ${name} has a line break or a NUL: ${JSON.stringify(value)}`);
    }
    lines.push(`${name}: ${value}`);
  }
  if (retry !== undefined) {
    if (!Number.isSafeInteger(retry) || retry < 0) {
      throw new UsageError(`sse: retry is a number of milliseconds, not ${JSON.stringify(retry)}`);
    }
    lines.push(`retry: ${retry}`);
  }
  if (data !== undefined) checkText("data", data);
  const text = json === undefined ? data : jsonText("sse", json);
  if (text !== undefined) lines.push(...text.split(/\r\n|\r|\n/).map((line) => `data: ${line}`));
  if (!lines.length) throw new UsageError("sse: give data, json, event, id or retry");
  return Buffer.from(`${lines.join("\n")}\n\n`);
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function checkText(name, value) {
  if (typeof value !== "string") throw new UsageError(`sse: ${name} is a string, not ${JSON.stringify(value)}`);
}

/**
 * @param {string} call
 * @param {unknown} value
 */
function jsonText(call, value) {
  const text = JSON.stringify(value);
  if (text === undefined) throw new UsageError(`${call}: JSON cannot express a ${typeof value}`);
  return text;
}

/**
 * @param {any} body
 * @returns {boolean} whether it is an iterable, or an async iterable, of parts
 */
const isParts = (body) =>
  typeof body === "object" &&
  body !== null &&
  !ArrayBuffer.isView(body) &&
  (Symbol.asyncIterator in body || Symbol.iterator in body);

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

module.exports = { abortCode, contentOf, isParts, jsonLine, serverSentEvent };
