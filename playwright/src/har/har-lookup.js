"use strict";

const headers = require("../arguments/headers.js");

/**
 * Finds the recorded response to a request in a HAR's entries (Playwright's rules).
 *
 * @typedef {import("../arguments/headers.js").Pairs} Pairs
 * @typedef {{ url: string, method: string, pairs: Pairs, body: Buffer }} Question
 */

/** The status of an entry whose request got no response; browsers write 0 for it. */
const STALLED = -1;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Headers about the encoded body; a HAR has the decoded one. */
const NOT_AS_STORED = ["content-encoding", "content-length", "transfer-encoding"];

/** The redirects in a HAR form a cycle. */
class HarCycleError extends Error {}

/** The entries of one HAR; each can answer any number of requests. */
class HarLookup {
  /**
   * @param {any[]} entries
   * @param {(name: string) => Promise<Buffer>} read returns the content of a file beside the HAR
   */
  constructor(entries, read) {
    this.read = read;
    /** @type {Map<string, any[]>} the entries by method and URL, in their order */
    this.byRequest = new Map();
    for (const entry of entries) {
      const key = keyOf(entry.request);
      this.byRequest.set(key, [...(this.byRequest.get(key) ?? []), entry]);
    }
  }

  /**
   * Find the recorded response to a request, after redirects within the HAR.
   *
   * @param {Question} question
   * @returns {Promise<{ status: number, statusText: string, pairs: Pairs, body: Buffer, failure: string } | undefined>}
   *   `failure`: why there is no response, with the status -1
   * @throws {HarCycleError}
   */
  async find(question) {
    const response = await follow(question, (hop) => this.best(hop));
    return response && this.recorded(response);
  }

  /**
   * Find the response that answers all requests with a method and URL.
   *
   * @param {{ method: string, url: string }} request
   * @returns {Promise<any>} the `response` of the HAR entry; `undefined` where there is none, or where the response
   *   depends on the headers or body of the request
   * @throws {HarCycleError}
   */
  async findForAll({ method, url }) {
    return follow({ method, url, pairs: [], body: Buffer.alloc(0) }, async (hop) => this.only(hop));
  }

  /**
   * Find the entry with the most header lines in common, the first of several.
   * @param {Question} question
   */
  async best(question) {
    let best;
    let most = -1;
    const asked = new Set(question.pairs.map(String));
    for (const entry of this.entriesFor(question)) {
      if (!(await this.hasTheBody(entry, question))) continue;
      const common = pairsOf(entry.request).filter((pair) => asked.has(String(pair))).length;
      if (common > most) [best, most] = [entry, common];
    }
    return best;
  }

  /**
   * Find the first entry, if `best` finds it for all headers and bodies.
   * @param {Question} question
   */
  only(question) {
    const [first, ...others] = this.entriesFor(question);
    const hasBody = (/** @type {any} */ { request: { postData } }) => postData?._file || postData?.text;
    if (question.method === "POST" && [first, ...others].some((entry) => entry && hasBody(entry))) return undefined;
    return others.every((other) => isWithin(pairsOf(other.request), pairsOf(first.request))) ? first : undefined;
  }

  /** @param {{ method: string, url: string }} request */
  entriesFor(request) {
    return this.byRequest.get(keyOf(request)) ?? [];
  }

  /**
   * @param {any} entry
   * @param {Question} question
   */
  async hasTheBody({ request }, { method, pairs, body }) {
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
      status: Number(response.status ?? STALLED) || STALLED,
      statusText: String(response.statusText ?? ""),
      pairs: pairsOf(response).filter(([name]) => !NOT_AS_STORED.includes(name)),
      body: await this.contentOf(response.content ?? {}),
      failure: String(response._failureText ?? response._error ?? ""),
    };
  }

  /** @param {{ _file?: string, text?: string, encoding?: string }} holder */
  async contentOf({ _file: file, text = "", encoding }) {
    return file ? this.read(file) : Buffer.from(text, encoding === "base64" ? "base64" : "utf8");
  }
}

/**
 * Choose an entry, and follow its redirects.
 *
 * @param {Question} question
 * @param {(hop: Question) => Promise<any>} choose
 * @returns {Promise<any>} the response of the last entry
 */
async function follow(question, choose) {
  const seen = new Set();
  for (;;) {
    const entry = await choose(question);
    if (!entry) return undefined;
    if (seen.has(entry)) throw new HarCycleError(`redirects in the HAR go in a circle at ${question.url}`);
    seen.add(entry);
    const { response } = entry;
    const location = headers.get(pairsOf(response), "location");
    if (!REDIRECTS.includes(response.status) || !location) return response;
    question = nextHop(question, response.status, location);
  }
}

/** @param {{ method: string, url: string }} request */
const keyOf = ({ method, url }) => `${method} ${url}`;

/**
 * @param {Pairs} lines
 * @param {Pairs} others
 * @returns {boolean} whether the others have each line at least as often
 */
function isWithin(lines, others) {
  const left = others.map(String);
  return lines.map(String).every((line) => {
    const index = left.indexOf(line);
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
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
