"use strict";

const headers = require("../arguments/headers.js");

/**
 * Finds the recorded answer to a request in a HAR's entries (Playwright's rules).
 *
 * @typedef {import("../arguments/headers.js").Pairs} Pairs
 * @typedef {{ url: string, method: string, pairs: Pairs, body: Buffer }} Question
 */

/** The status of an entry whose request never got an answer. */
const STALLED = -1;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Headers that speak of the body as it was sent; a HAR has it decoded. */
const NOT_AS_STORED = ["content-encoding", "content-length", "transfer-encoding"];

/** The redirects in a HAR lead back to where they came from. */
class HarCycleError extends Error {}

/** The entries of one HAR; they are not used up. */
class HarLookup {
  /**
   * @param {any[]} entries
   * @param {(name: string) => Promise<Buffer>} read gives the content of a file beside the HAR
   */
  constructor(entries, read) {
    this.entries = entries;
    this.read = read;
  }

  /**
   * Find the answer, following redirects within the HAR.
   *
   * @param {Question} question
   * @returns {Promise<{ status: number, statusText: string, pairs: Pairs, body: Buffer } | undefined>}
   * @throws {HarCycleError}
   */
  async find(question) {
    const seen = new Set();
    for (;;) {
      const entry = await this.best(question);
      if (!entry) return undefined;
      if (seen.has(entry)) throw new HarCycleError(`redirects in the HAR go in a circle at ${question.url}`);
      seen.add(entry);
      const { response } = entry;
      const location = headers.get(pairsOf(response), "location");
      if (!REDIRECTS.includes(response.status) || !location) return this.recorded(response);
      question = nextHop(question, response.status, location);
    }
  }

  /**
   * Choose the entry with the most header lines in common, the earliest of several.
   * @param {Question} question
   */
  async best(question) {
    let best;
    let most = -1;
    const asked = new Set(question.pairs.map(String));
    for (const entry of this.entries) {
      if (!(await this.isCandidate(entry, question))) continue;
      const common = pairsOf(entry.request).filter((pair) => asked.has(String(pair))).length;
      if (common > most) [best, most] = [entry, common];
    }
    return best;
  }

  /**
   * @param {any} entry
   * @param {Question} question
   */
  async isCandidate({ request }, { url, method, pairs, body }) {
    if (request.url !== url || request.method !== method) return false;
    if (method !== "POST" || !body.length || !request.postData) return true;
    const recorded = await this.contentOf(request.postData);
    if (!recorded.length || recorded.equals(body)) return true;
    const recordedType = headers.get(pairsOf(request), "content-type");
    const type = headers.get(pairs, "content-type");
    return withoutBoundary(body, type) === withoutBoundary(recorded, recordedType);
  }

  /** @param {any} response */
  async recorded(response) {
    return {
      status: Number(response.status ?? STALLED),
      statusText: String(response.statusText ?? ""),
      pairs: pairsOf(response).filter(([name]) => !NOT_AS_STORED.includes(name)),
      body: await this.contentOf(response.content ?? {}),
    };
  }

  /** @param {{ _file?: string, text?: string, encoding?: string }} holder */
  async contentOf({ _file: file, text = "", encoding }) {
    return file ? this.read(file) : Buffer.from(text, encoding === "base64" ? "base64" : "utf8");
  }
}

/**
 * @param {{ headers?: { name: string, value: string }[] }} holder
 * @returns {Pairs}
 */
const pairsOf = (holder) =>
  (holder.headers ?? []).map(({ name, value }) => [String(name).toLowerCase(), String(value)]);

/**
 * @param {Buffer} body
 * @param {string} [type] its content type
 */
function withoutBoundary(body, type) {
  const text = body.toString("latin1");
  const boundary = /boundary="?([^";\r\n]+)/.exec(type ?? "")?.[1];
  return boundary ? text.replaceAll(boundary.trim(), "") : text;
}

/**
 * Make the request that a client sends after a redirect (the Fetch standard's rules).
 *
 * @param {Question} question
 * @param {number} status
 * @param {string} location
 * @returns {Question}
 */
function nextHop(question, status, location) {
  const url = URL.canParse(location, question.url) ? new URL(location, question.url).href : location;
  const { method } = question;
  const becomesGet =
    ([301, 302].includes(status) && method === "POST") || (status === 303 && method !== "GET" && method !== "HEAD");
  return { ...question, url, ...(becomesGet && { method: "GET", body: Buffer.alloc(0) }) };
}

module.exports = { HarCycleError, HarLookup, STALLED };
