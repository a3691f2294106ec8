"use strict";

const { BODILESS_STATUSES, FINAL_STATUSES } = require("../protocol/facts.js");
const headers = require("../protocol/headers.js");
const { TrafficMockError } = require("../protocol/errors.js");
const { FaultyBody } = require("./faulty-body.js");
const { MockBody } = require("./mock-body.js");

/**
 * A response of a handler, valid as an HTTP response.
 *
 * @typedef {object} Mock
 * @property {number} status
 * @property {string} statusText
 * @property {headers.Pairs} pairs
 * @property {MockBody} body empty when the status or method allows none
 */

/** The characters of a header value or a reason phrase (RFC 9110, section 5.5), as latin-1. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * @param {{ status: number, statusText?: string, headers?: Record<string, string>, headersList?: headers.Pairs, trailers?: headers.Pairs, bodyBase64?: string | null }} response
 * @param {string} method of the request it answers
 * @param {MockBody} [streamed] the body, if it comes in pieces
 * @param {import("./faulty-body.js").BodyWay} [way] with the fault by which it breaks
 * @param {string} [url] of the request, for the error of the fault
 * @returns {Mock}
 * @throws {TrafficMockError} `handler_failed`, if HTTP cannot carry the response
 */
function readMock(response, method, streamed, way, url = "") {
  const { status } = response;
  const statusText = response.statusText ?? "";
  const { first, last } = FINAL_STATUSES;
  if (!Number.isInteger(status) || status < first || status > last) {
    refuse(`status ${status} is not between ${first} and ${last}`);
  }
  if (!VALUE.test(statusText)) refuse(`status text ${JSON.stringify(statusText)} has characters HTTP does not allow`);
  const pairs = headers.fromWire(response);
  for (const [name, value] of pairs) {
    if (typeof value !== "string") refuse(`header ${name} has no text`);
    if (!headers.TOKEN.test(name)) refuse(`header name ${JSON.stringify(name)} is not valid`);
    if (!VALUE.test(value)) refuse(`header ${name} has characters HTTP does not allow: ${JSON.stringify(value)}`);
  }
  const isBodiless = method === "HEAD" || BODILESS_STATUSES.includes(status);
  const fitting = headers.without(pairs, "transfer-encoding");
  if (isBodiless) return { status, statusText, pairs: framedBodiless(fitting, status), body: new MockBody(NO_BYTES) };
  const { trailers = [] } = response;
  if (streamed) return inChunks({ status, statusText, pairs: fitting, body: streamed }, trailers);
  const body = response.bodyBase64 ? Buffer.from(response.bodyBase64, "base64") : NO_BYTES;
  const whole = headers.set(fitting, "content-length", String(body.length));
  if (!way && trailers.length > 0) {
    return inChunks({ status, statusText, pairs: fitting, body: new MockBody(body) }, trailers);
  }
  if (!way) return { status, statusText, pairs: whole, body: new MockBody(body) };
  // A client would not notice a fault after a length of 0.
  const isChunked = way.then === "malformed_chunk" || body.length === 0;
  return {
    status,
    statusText,
    pairs: isChunked ? framedInChunks(fitting) : whole,
    body: new FaultyBody(body, way, url),
  };
}

const NO_BYTES = Buffer.alloc(0);

/** @param {string} why */
function refuse(why) {
  throw new TrafficMockError("handler_failed", `The mock cannot be sent as an HTTP response: ${why}.`);
}

/**
 * @param {Mock} mock
 * @param {headers.Pairs} trailers the fields behind the body, which the head announces
 * @returns {Mock} with its body in chunks
 */
function inChunks(mock, trailers) {
  const names = trailers.map(([name]) => name).join(", ");
  mock.body.trailers = trailers;
  return { ...mock, pairs: framedInChunks(names ? [...mock.pairs, ["trailer", names]] : mock.pairs) };
}

/**
 * @param {headers.Pairs} pairs
 * @returns {headers.Pairs} the headers of a body whose length is not known before its end
 */
const framedInChunks = (pairs) => [...headers.without(pairs, "content-length"), ["transfer-encoding", "chunked"]];

/**
 * @param {headers.Pairs} pairs
 * @param {number} status
 * @returns {headers.Pairs} the headers of a response without a body
 */
function framedBodiless(pairs, status) {
  return status === 204 || status === 205 ? headers.without(pairs, "content-length") : keepingValidLength(pairs);
}

/**
 * Keep a valid `content-length`: a response to HEAD, or a 304, may have the length that the body would have.
 * @param {headers.Pairs} pairs
 */
function keepingValidLength(pairs) {
  const length = headers.get(pairs, "content-length");
  const rest = headers.without(pairs, "content-length");
  return length !== undefined && /^\d{1,15}$/.test(length) ? headers.set(pairs, "content-length", length) : rest;
}

module.exports = { framedInChunks, readMock };
