"use strict";

const { build } = require("../arguments/mock-response.js");
const { STALLED } = require("./har-lookup.js");

/**
 * Selects the responses of a HAR that the proxy can send itself: those that depend only on method and URL.
 *
 * @typedef {import("./har-lookup.js").HarLookup} HarLookup
 * @typedef {import("../arguments/matcher.js").Matcher} Matcher
 * @typedef {{ method: string, url: string, response: object }} RecordedReply
 */

/** The limit of the bodies of a HAR's responses in `route:register`; base64 characters. */
const MOST_BYTES = 2 * 2 ** 20;
/** The limit of the number of these responses, because the call of the test makes all of them. */
const MOST_REPLIES = 1000;
const BASE64 = 4 / 3;

/**
 * Make the responses of a HAR that depend only on method and URL. Other requests are answered by the test's process:
 * those whose headers or body select the response, those whose response is invalid, and those beyond the limits.
 *
 * @param {HarLookup} lookup
 * @param {Matcher} matcher of the route; with a predicate the result is empty, because only the test's process can call it
 * @param {{ sizeOf(name: string): Promise<number> }} files knows the sizes of the files beside the HAR
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
    // The handler throws this error when a request needs the response.
    return undefined;
  }
}

/**
 * Estimate the base64 characters of a response's body, without reading its file.
 *
 * @param {{ _file?: string, text?: string, encoding?: string }} content
 * @param {{ sizeOf(name: string): Promise<number> }} files
 */
async function lettersOf({ _file: file, text = "", encoding }, files) {
  if (file) return (await files.sizeOf(file)) * BASE64;
  return encoding === "base64" ? text.length : text.length * BASE64;
}

module.exports = { repliesOf };
