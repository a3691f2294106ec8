"use strict";

const { headerLines } = require("./text.js");

/**
 * Change the headers of a request that has no socket yet: those that are set, or
 * those that are already written, at the start of its buffer.
 * @param {any} req a `ClientRequest`
 * @param {(pairs: import('../protocol/headers.js').Pairs) => import('../protocol/headers.js').Pairs} change
 *   returns the same list if there is nothing to change
 */
function rewriteHead(req, change) {
  const { _header: head } = req;
  if (!head) return setHeaders(req, change);
  const pairs = headerLines(head);
  const changed = change(pairs);
  if (changed === pairs) return;
  const [first] = head.split("\r\n", 1);
  req._header = `${[first, ...changed.map(([name, value]) => `${name}: ${value}`)].join("\r\n")}\r\n\r\n`;
  const [written] = req.outputData ?? [];
  if (typeof written?.data === "string" && written.data.startsWith(head)) {
    written.data = req._header + written.data.slice(head.length);
  }
}

/**
 * Call a function whenever a request's head is written, and at once if it is: agents of libraries write it anew for a proxy.
 * @param {any} req a `ClientRequest`
 * @param {() => void} act
 */
function onHead(req, act) {
  const { _storeHeader: store } = req;
  req._storeHeader = (/** @type {any[]} */ ...args) => {
    store.apply(req, args);
    act();
  };
  if (req._header) act();
}

/**
 * @param {any} req a `ClientRequest`
 * @returns {import('../protocol/headers.js').Pairs} its headers as they are written, or as they are set so far
 */
function headOf(req) {
  if (req._header) return headerLines(req._header);
  return req
    .getRawHeaderNames()
    .flatMap((/** @type {string} */ name) => [req.getHeader(name)].flat().map((value) => [name, String(value)]));
}

/**
 * @param {any} req whose headers are not written
 * @param {(pairs: import('../protocol/headers.js').Pairs) => import('../protocol/headers.js').Pairs} change
 */
function setHeaders(req, change) {
  const pairs = headOf(req);
  const changed = change(pairs);
  if (changed === pairs) return;
  for (const [name] of pairs) req.removeHeader(name);
  for (const [name, value] of changed) req.appendHeader(name, value);
}

module.exports = { headOf, onHead, rewriteHead };
