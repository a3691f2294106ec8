"use strict";

const { build } = require("../arguments/mock-response.js");
const { STALLED } = require("./har-lookup.js");

/**
 * Which answers of a HAR the proxy can give by itself: those that method and URL decide.
 *
 * @typedef {import("./har-lookup.js").HarLookup} HarLookup
 * @typedef {import("../arguments/matcher.js").Matcher} Matcher
 * @typedef {{ method: string, url: string, response: object }} RecordedReply
 */

/** What the bodies of a HAR's answers take in the message that registers its route. */
const MOST_BYTES = 2 * 2 ** 20;
/** How many of them it has: the call makes each, whether it is asked for or not. */
const MOST_REPLIES = 1000;
const BASE64 = 4 / 3;

/**
 * Make the responses that a HAR gives whatever else a request has. What is missing here is answered by the test's
 * process: what a request's headers or body decide, what is not a valid response, and what exceeds the limits.
 *
 * @param {HarLookup} lookup
 * @param {Matcher} matcher what the route wants; nothing where only the test's process can tell
 * @param {{ sizeOf(name: string): Promise<number> }} files tells how large a file beside the HAR is
 * @returns {Promise<RecordedReply[]>}
 */
async function repliesOf(lookup, matcher, files) {
  if (matcher.wire.predicate) return [];
  const replies = [];
  let left = MOST_BYTES;
  for (const [{ request }] of lookup.byRequest.values()) {
    if (replies.length === MOST_REPLIES) break;
    if (!isText(request.method) || !isText(request.url) || !matcher.matchesOfAny(request)) continue;
    const reply = await replyTo(request, lookup, left, files);
    if (!reply) continue;
    replies.push({ method: request.method, url: request.url, response: reply.response });
    left -= reply.letters;
  }
  return replies;
}

/** @param {unknown} value */
const isText = (value) => typeof value === "string";

/**
 * @param {{ method: string, url: string }} request
 * @param {HarLookup} lookup
 * @param {number} most
 * @param {{ sizeOf(name: string): Promise<number> }} files
 */
async function replyTo(request, lookup, most, files) {
  try {
    const found = await lookup.findForAll(request);
    if (!found || (await lettersOf(found.content ?? {}, files)) > most) return undefined;
    const { body, ...answer } = await lookup.recorded(found);
    if (answer.status === STALLED) return undefined;
    const { url: _, ...response } = build({ ...answer, content: body }, "");
    return { response, letters: /** @type {string | null} */ (response.bodyBase64)?.length ?? 0 };
  } catch {
    // The handler says what is wrong with it when a request asks for it.
    return undefined;
  }
}

/**
 * Estimate the characters of a response's body in a message, before it is read.
 *
 * @param {{ _file?: string, text?: string, encoding?: string }} content
 * @param {{ sizeOf(name: string): Promise<number> }} files
 */
async function lettersOf({ _file: file, text = "", encoding }, files) {
  if (file) return (await files.sizeOf(file)) * BASE64;
  return encoding === "base64" ? text.length : text.length * BASE64;
}

module.exports = { repliesOf };
