"use strict";

const { CONTEXT_COOKIE, CONTEXT_MEMBER } = require("../protocol/facts.js");
const headers = require("../protocol/headers.js");

/**
 * The context of a test in HTTP headers: a member of `baggage` (W3C Baggage), a cookie, or
 * the trace id of `traceparent` (W3C Trace Context).
 */

/** The form of an id; in W3C Trace Context, a trace id of zeros alone is invalid. */
const ID = /^(?!0{32}$)[\w.-]{1,64}$/;
const TRACE = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;
/** The form of the ids that tests make; no other text in a header is equal to one by chance. */
const RESERVED = /^[\da-f]{32}$/;
/** How much of a header is read, the limit of W3C Baggage; characters. */
const MAX_CHARACTERS = 8192;
const MENTIONED = /trafficmock[._]test/;

/**
 * @param {unknown} text
 * @returns {text is string} whether it has the form of an id
 */
const isId = (text) => typeof text === "string" && ID.test(text);

/**
 * @param {string} text with pairs such as `name=value;property`
 * @param {string} separator
 * @param {string} name
 * @returns {string | undefined} the value of the first pair of that name
 */
function valueOf(text, separator, name) {
  if (!text.includes(name)) return undefined;
  // The last part may be cut off, and would then be another id.
  const end = text.length > MAX_CHARACTERS ? text.lastIndexOf(separator, MAX_CHARACTERS) : text.length;
  for (const part of text.slice(0, Math.max(end, 0)).split(separator)) {
    const [pair] = part.split(";", 1);
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** @param {string | undefined} baggage */
const memberOf = (baggage) => valueOf(baggage ?? "", ",", CONTEXT_MEMBER);

/**
 * @param {import('node:http').IncomingHttpHeaders} incoming also those of HTTP/2
 * @returns {{ id: string, isForwarded: boolean } | undefined} the context of a request, and whether the agent forwards
 *   it; the application itself forwards a trace
 */
function contextOf(incoming) {
  const { baggage, cookie, traceparent } = /** @type {Record<string, string>} */ (incoming);
  const id = [memberOf(baggage), valueOf(cookie ?? "", ";", CONTEXT_COOKIE)].find(isId);
  if (id) return { id, isForwarded: true };
  const trace = traceOf(traceparent);
  return isId(trace) ? { id: trace, isForwarded: false } : undefined;
}

/** @param {string | undefined} traceparent */
const traceOf = (traceparent) => TRACE.exec(traceparent ?? "")?.[1];

/**
 * @param {string} text
 * @param {string} separator
 * @param {string} name
 */
function withoutPair(text, separator, name) {
  const kept = text.split(separator).filter((part) => part.split("=", 1)[0].trim() !== name);
  return kept.join(separator).trim();
}

/** @type {Record<string, (value: string) => string>} */
const CLEANED = {
  baggage: (value) => withoutPair(value, ",", CONTEXT_MEMBER),
  cookie: (value) => withoutPair(value, ";", CONTEXT_COOKIE),
};

/** @param {string} text of headers */
const isMentioned = (text) => MENTIONED.test(text);

/**
 * @param {headers.Pairs} pairs
 * @returns {headers.Pairs} without the context; headers with nothing else in them are left out
 */
function withoutContext(pairs) {
  if (!pairs.some(([, value]) => isMentioned(value))) return pairs;
  return pairs.flatMap(([name, value]) => {
    const clean = isMentioned(value) && CLEANED[name.toLowerCase()];
    const left = clean ? clean(value) : value;
    return left || !clean ? [/** @type {[string, string]} */ ([name, left])] : [];
  });
}

/**
 * @param {headers.Pairs} pairs
 * @param {string} id
 * @returns {headers.Pairs} with the context first in `baggage`, because members beyond its limit are dropped from the end
 */
function withContext(pairs, id) {
  const baggage = headers.get(pairs, "baggage");
  return memberOf(baggage) === id ? pairs : headers.set(pairs, "baggage", withMember(baggage, id));
}

/**
 * @param {string | null | undefined} baggage
 * @param {string} id
 */
function withMember(baggage, id) {
  const others = CLEANED.baggage(baggage ?? "");
  return `${CONTEXT_MEMBER}=${id}${others && `,${others}`}`;
}

/**
 * @param {headers.Pairs} pairs
 * @param {string} id
 * @returns {boolean} whether it has the form of a test's id and is part of a value
 */
const isAmong = (pairs, id) => RESERVED.test(id) && pairs.some(([, value]) => value.includes(id));

/**
 * @param {headers.Pairs} pairs
 * @param {string} id
 * @param {string} other
 * @returns {headers.Pairs} with the id replaced by the other one; the same list if it is in no value
 */
function withOtherId(pairs, id, other) {
  if (!isAmong(pairs, id)) return pairs;
  return pairs.map(([name, value]) => [name, value.replaceAll(id, other)]);
}

module.exports = {
  CONTEXT_MEMBER,
  contextOf,
  isAmong,
  isId,
  isMentioned,
  memberOf,
  traceOf,
  withContext,
  withMember,
  withOtherId,
  withoutContext,
};
