"use strict";

const { createHash } = require("node:crypto");
const mime = require("mime-types");
const headers = require("../arguments/headers.js");
const { BYTES_TYPE } = require("../arguments/request-overrides.js");

/**
 * Converts requests and responses to entries of HAR 1.2.
 *
 * @typedef {import("../session/request-state.js").RequestState} RequestState
 * @typedef {import("../session/response-state.js").ResponseState} ResponseState
 * @typedef {{ isFull: boolean }} Style `isFull`: with times and sizes
 */

const UNKNOWN = -1;
/** The status of a request that got no response. */
const STALLED = -1;

/**
 * @param {{ request: RequestState, response: ResponseState | string, began: number, ms: number }} exchange `response` may
 *   be the text of a failure; `began` is in epoch ms
 * @param {Style} style
 */
function harEntry({ request, response, began, ms }, style) {
  return {
    startedDateTime: new Date(began).toISOString(),
    time: style.isFull ? ms : UNKNOWN,
    request: requestOf(request, style),
    response: typeof response === "string" ? failureOf(response) : responseOf(response, style),
    cache: {},
    timings: style.isFull ? { send: 0, wait: ms, receive: 0 } : { send: UNKNOWN, wait: UNKNOWN, receive: UNKNOWN },
  };
}

/**
 * @param {RequestState} request
 * @param {Style} style
 */
function requestOf(request, style) {
  const { body, pairs } = request;
  const type = headers.get(pairs, "content-type") ?? BYTES_TYPE;
  return {
    method: request.method,
    url: request.url,
    httpVersion: "HTTP/1.1",
    cookies: [],
    headers: linesOf(pairs),
    queryString: [...new URL(request.url).searchParams].map(([name, value]) => ({ name, value })),
    headersSize: UNKNOWN,
    bodySize: sizeOf(body, style),
    ...(body.length && { postData: { mimeType: type, params: [], ...contentOf(body, type) } }),
  };
}

/**
 * @param {ResponseState} response
 * @param {Style} style
 */
function responseOf(response, style) {
  const { pairs } = response;
  const body = response.read();
  const { pieces } = response.wire;
  const type = headers.get(pairs, "content-type") ?? BYTES_TYPE;
  // What is decoded has no such header any more.
  const coding = body.length ? headers.get(pairs, "content-encoding") : undefined;
  return {
    ...answer(response.wire.status, response.wire.statusText),
    headers: linesOf(pairs),
    content: {
      size: sizeOf(body, style),
      mimeType: type,
      ...(body.length && contentOf(body, type)),
      ...(coding && { _coding: coding }),
    },
    bodySize: sizeOf(body, style),
    redirectURL: headers.get(pairs, "location") ?? "",
    ...(pieces && { _pieces: pieces.map(([time, size]) => ({ time, size })) }),
  };
}

/** @param {string} text */
const failureOf = (text) => ({
  ...answer(STALLED, ""),
  headers: [],
  content: { size: UNKNOWN, mimeType: "x-unknown" },
  bodySize: UNKNOWN,
  redirectURL: "",
  _failureText: text,
});

/**
 * @param {number} status
 * @param {string} statusText
 */
const answer = (status, statusText) => ({
  status,
  statusText,
  httpVersion: "HTTP/1.1",
  cookies: [],
  headersSize: UNKNOWN,
});

/** @param {import("../arguments/headers.js").Pairs} pairs */
const linesOf = (pairs) => pairs.map(([name, value]) => ({ name, value }));

/**
 * @param {Buffer} body
 * @param {Style} style
 */
const sizeOf = (body, { isFull }) => (isFull ? body.length : UNKNOWN);

/** Where a type, or a document itself, names a charset. */
const CHARSET = /(?:charset|encoding)\s*=\s*["']?\s*(?!utf-?8\b)[\w.:-]/i;
/** The bytes of a document in which its charset is looked for (HTML, section 4.2.5.4). */
const LOOKED_AT = 1024;

/**
 * Make the fields of a body. A reader of a HAR encodes its texts in their charset, so only UTF-8 is one here.
 *
 * @param {Buffer} body
 * @param {string} type
 */
function contentOf(body, type) {
  const text = body.toString("utf8");
  const isText = Buffer.from(text).equals(body) && !CHARSET.test(type) && !CHARSET.test(text.slice(0, LOOKED_AT));
  return isText ? { text } : { text: body.toString("base64"), encoding: "base64" };
}

/**
 * Put the bodies of an entry into files.
 *
 * @param {any} entry
 * @param {Map<string, Buffer>} files gets the bodies by file name
 * @returns {any} the entry, with the names of the files
 */
function attachedBodies({ request, response, ...entry }, files) {
  const postData = attached(request.postData, files);
  const content = attached(response.content, files);
  return { ...entry, request: { ...request, ...(postData && { postData }) }, response: { ...response, content } };
}

/**
 * @param {any} part the part of an entry that has a body
 * @param {Map<string, Buffer>} files
 */
function attached(part, files) {
  if (!part?.text) return part;
  const { text, encoding, ...kept } = part;
  const body = Buffer.from(text, encoding === "base64" ? "base64" : "utf8");
  // Playwright's file names: a hash of the content, not for security.
  const name = `${createHash("sha1").update(body).digest("hex")}.${mime.extension(kept.mimeType) || "bin"}`;
  files.set(name, body);
  return { ...kept, _file: name };
}

/**
 * @param {object[]} entries
 * @param {string} version of this package
 */
const harDocument = (entries, version) => ({
  log: { version: "1.2", creator: { name: "trafficmock", version }, entries },
});

module.exports = { attachedBodies, harDocument, harEntry };
