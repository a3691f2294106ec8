"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { CONTENT_HEADERS, CREDENTIALS, REDIRECTS } = require("../protocol/facts.js");
const headers = require("../protocol/headers.js");

/**
 * Redirects. The application's client follows them by its own rules: a chain finds
 * out that a request is the next hop of another one. For a handler's fetch the agent
 * follows them itself, by the rules here.
 */

/** Headers that a request without a body does not have. */
const BODY_HEADERS = [...CONTENT_HEADERS, "transfer-encoding"];

/**
 * @param {number} status
 * @param {headers.Pairs} pairs
 */
const isRedirect = (status, pairs) => REDIRECTS.includes(status) && Boolean(headers.get(pairs, "location"));

/**
 * Make the request that follows a redirect (Fetch standard, HTTP-redirect fetch).
 * @param {import('../protocol/messages.js').Outgoing} request
 * @param {number} status
 * @param {string} location
 * @returns {import('../protocol/messages.js').Outgoing}
 * @throws {Error} when the location is not a URL
 */
function nextHop(request, status, location) {
  if (!URL.canParse(location, request.url)) throw new Error(`Invalid redirect location: ${location}`);
  const url = new URL(location, request.url);
  let { method, pairs, body } = request;
  const isPost = (status === 301 || status === 302) && method === "POST";
  if (isPost || (status === 303 && method !== "GET" && method !== "HEAD")) {
    method = "GET";
    body = null;
    pairs = headers.without(pairs, ...BODY_HEADERS);
  }
  if (!isSameOrigin(url, new URL(request.url))) pairs = headers.without(pairs, ...CREDENTIALS);
  return { url: url.href, method, pairs: headers.without(pairs, "host"), body };
}

/**
 * @param {URL} a
 * @param {URL} b
 * @returns {boolean} whether they have one origin; that of a UNIX socket has no text
 */
const isSameOrigin = (a, b) => a.protocol === b.protocol && a.host === b.host;

/** Headers that are specific to one hop: its target, its framing, and its cookies. */
const HOP_HEADERS = [
  "host",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/**
 * The hop before the request that follows a redirect.
 *
 * @typedef {object} Hop
 * @property {string} id of its request
 * @property {string} url that answered with the redirect
 * @property {headers.Pairs} [override] the headers with which a handler continued the first request
 * @property {boolean} isJudged whether the proxy also decides about the next hop
 * @property {{ send(message: object, links: number): void }} reporter sends the messages about it
 * @property {boolean} isReported whether it is reported to the proxy
 */

/**
 * Apply the headers with which a handler continued a request to a redirect of it, as
 * Playwright does; credentials are not sent to another origin.
 * @param {headers.Pairs} override
 * @param {string} from the URL of the hop before
 * @param {import('../protocol/messages.js').Outgoing} hop as the client would send it
 * @returns {{ override: headers.Pairs, request: import('../protocol/messages.js').Outgoing }} the headers for the hop after this one, and the request to send
 */
function overridden(override, from, hop) {
  const isElsewhere = !isSameOrigin(new URL(from), new URL(hop.url));
  const kept = isElsewhere ? headers.without(override, ...CREDENTIALS) : override;
  const own = hop.pairs.filter(([name]) => HOP_HEADERS.includes(name.toLowerCase()));
  const isEmpty = !hop.body?.length && !hop.truncated;
  const rest = headers.without(kept, ...HOP_HEADERS, ...(isEmpty ? BODY_HEADERS : []));
  return { override: kept, request: { ...hop, pairs: [...own, ...rest] } };
}

/** One call of a client library, with the redirect that it follows next. */
class Chain {
  /** @param {{ stack?: string }} [callers] of the function that begins the call */
  constructor(callers) {
    this.callers = callers;
    /** @type {{ hop: Hop, location: string, report: import('./report.js').Report } | undefined} */
    this.last = undefined;
    /** Whether the call is `new globalThis.WebSocket(...)`. */
    this.isGlobalSocket = false;
    /** @type {WebSocket | undefined} */
    this.socket = undefined;
    /** Whether the WebSocket had its `open` event. */
    this.wasSocketOpen = false;
    /** Whether the WebSocket had its `close` event. */
    this.isSocketClosed = false;
  }

  /**
   * Record a redirect, which the client may follow.
   * @param {string} id of the request that got it
   * @param {import('./report.js').Report} report
   * @param {{ override?: headers.Pairs, judgesHops: boolean, reporter: Hop['reporter'], isReported: boolean }} exchange of that request
   */
  redirected(id, report, { override, judgesHops: isJudged, reporter, isReported }) {
    const { pairs, url } = report;
    const location = headers.get(pairs, "location") ?? "";
    this.last = URL.canParse(location, url)
      ? {
          hop: { id, url, override, isJudged, reporter, isReported },
          location: withoutHash(new URL(location, url)),
          report,
        }
      : undefined;
  }

  /**
   * @param {string} url of a request
   * @returns {boolean} whether it is the next hop
   */
  leadsTo(url) {
    return this.last?.location === withoutHash(new URL(url));
  }

  /** @returns {boolean} whether the next hop is sent with the headers of a handler */
  get isOverridden() {
    return this.last?.hop.override !== undefined;
  }

  /**
   * @param {string} url of a request
   * @returns {Hop | undefined} the hop before, if the request is the next one
   */
  take(url) {
    const { last } = this;
    if (!last || !this.leadsTo(url)) return undefined;
    this.last = undefined;
    // The hop before is reported first, even incomplete: the client may never read its body.
    last.report.cut();
    return last.hop;
  }
}

/** @param {URL} url */
const withoutHash = (url) => url.href.split("#")[0];

/** The chain of the running call. @type {AsyncLocalStorage<Chain>} */
const chains = new AsyncLocalStorage();

module.exports = { isSameOrigin, Chain, chains, isRedirect, nextHop, overridden };
