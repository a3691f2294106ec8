"use strict";

const { HAR_REQUEST, HAR_RESPONSE, MOST_HAR_BYTES, REDIRECTS } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");

/**
 * Makes the entries of a HAR for the proxy, which answers from them.
 *
 * @typedef {import("../arguments/matcher.js").Matcher} Matcher
 * @typedef {{ request: Record<string, any>, response: Record<string, any> }} Entry
 * @typedef {{ entries(): Promise<any[]>, read(name: string): Promise<Buffer> }} Store
 */

/**
 * Make the entries, with `null` for those that the route does not need. Bodies in files are read. All entries are needed
 * where only a predicate of the test can tell, and where one that the route wants is a redirect that is followed.
 *
 * @param {Store} store
 * @param {Matcher} matcher of the route
 * @param {{ isOfAnyUrl?: boolean, followRedirects?: boolean }} [rules] `isOfAnyUrl`: entries may answer whose URL the
 *   route does not match
 * @returns {Promise<(Entry | null)[]>}
 * @throws {UsageError} the file is missing, cannot be read, or is no HAR, or the entries are too large for a message
 */
async function harEntries(store, matcher, { isOfAnyUrl = false, followRedirects = false } = {}) {
  const entries = await store.entries();
  const wanted = entries.map((entry) => hasParts(entry) && (isOfAnyUrl || isWanted(entry.request, matcher)));
  const leadsOn =
    followRedirects &&
    entries.some((entry, index) => wanted[index] && REDIRECTS.includes(Number(entry.response.status)));
  const needed = entries.map((entry, index) => (wanted[index] || (leadsOn && hasParts(entry)) ? entry : null));
  const made = await Promise.all(needed.map((entry) => entry && encoded(entry, store)));
  const size = Buffer.byteLength(JSON.stringify(made));
  if (size > MOST_HAR_BYTES) {
    throw new UsageError(
      `the entries of the HAR for this route take ${size} bytes, with the bodies in its files, and a route may have ` +
        `${MOST_HAR_BYTES}: give routeFromHAR a narrower url`,
    );
  }
  return made;
}

/** @param {any} entry */
const hasParts = (entry) => [entry?.request, entry?.response].every((part) => part && typeof part === "object");

/**
 * @param {Record<string, any>} request
 * @param {Matcher} matcher
 */
function isWanted({ method, url }, matcher) {
  if (typeof method !== "string" || typeof url !== "string") return false;
  return Boolean(matcher.wire.predicate) || matcher.matchesOfAny({ method, url: asRequested(url) });
}

/** @param {string} text a URL, as programs write them in many ways */
function asRequested(text) {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = "";
  return url.href;
}

/**
 * @param {Entry} entry
 * @param {Store} store
 * @returns {Promise<Entry>}
 */
async function encoded({ request, response }, store) {
  const asked = part(request, HAR_REQUEST);
  const answer = part(response, HAR_RESPONSE);
  if (asked.postData?._file) asked.postData = await fromFile(asked.postData, store);
  if (answer.content?._file) answer.content = await fromFile(answer.content, store);
  return { request: asked, response: answer };
}

/**
 * @param {Record<string, any>} from
 * @param {readonly string[]} keys
 * @returns {Record<string, any>}
 */
const part = (from, keys) => Object.fromEntries(keys.filter((key) => key in from).map((key) => [key, from[key]]));

/**
 * Read the body of a file, and keep what else is known of it.
 *
 * @param {Record<string, any>} holder
 * @param {Store} store
 */
async function fromFile(holder, store) {
  try {
    const text = (await store.read(String(holder._file))).toString("base64");
    return { ...part(holder, ["mimeType", "_coding"]), text, encoding: "base64" };
  } catch (error) {
    return { unreadable: /** @type {Error} */ (error).message };
  }
}

module.exports = { harEntries };
