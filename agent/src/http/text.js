"use strict";

const headers = require("../protocol/headers.js");

/** HTTP/1.1 as text, for the parser of the application's own client. */

/**
 * @param {number} status
 * @param {string} statusText
 * @param {import('../protocol/headers.js').Pairs} pairs
 * @returns {Buffer} a response's head
 */
function head(status, statusText, pairs) {
  const lines = pairs.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(`HTTP/1.1 ${status} ${statusText}\r\n${lines}\r\n`, "latin1");
}

/**
 * @param {Buffer} data not empty
 * @returns {Buffer} one chunk of a chunked body
 */
function chunk(data) {
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n")]);
}

/**
 * @param {headers.Pairs} trailers
 * @returns {Buffer} the end of a chunked body, with its trailers
 */
function lastChunk(trailers) {
  const lines = trailers.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`0\r\n${lines.join("")}\r\n`, "latin1");
}

/** What stands where the size of a chunk is expected, in a body that is malformed on purpose. */
const NO_CHUNK = Buffer.from("no size of a chunk\r\n");

/**
 * @param {string} text a request's head as Node wrote it
 * @returns {import('../protocol/headers.js').Pairs} its header lines, in order and case
 */
function headerLines(text) {
  const lines = text.split("\r\n").slice(1).filter(Boolean);
  return lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
}

/**
 * @param {string} head of a request
 * @returns {number} the `content-length`, in bytes; NaN without one
 */
function declaredLength(head) {
  const length = headers.get(headerLines(head), "content-length");
  return length === undefined ? NaN : Number(length);
}

/**
 * @param {URL} url
 * @returns {string} path and query; a URL that ends in `?` keeps it, which `URL.search` does not tell
 */
function pathOf(url) {
  return url.pathname + (url.search || (url.href.split("#")[0].endsWith("?") ? "?" : ""));
}

module.exports = { head, chunk, lastChunk, NO_CHUNK, declaredLength, headerLines, pathOf };
