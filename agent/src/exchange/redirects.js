"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const headers = require("../protocol/headers.js");

/**
 * Redirects: the application's own client follows them, by its own rules; here
 * is how a request is known to be the next hop of another, and the rules for
 * the fetches that this agent makes itself.
 */

const STATUSES = new Set([301, 302, 303, 307, 308]);
const BODY_HEADERS = [
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-type",
  "transfer-encoding",
];

/** Headers that are not sent to another origin, as in Node's own fetch. */
const CREDENTIALS = ["authorization", "cookie", "proxy-authorization"];

/**
 * @param {number} status
 * @param {headers.Pairs} pairs
 */
const isRedirect = (status, pairs) => STATUSES.has(status) && Boolean(headers.get(pairs, "location"));

/**
 * The request that follows a redirect (Fetch standard, HTTP-redirect fetch).
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
  if (url.origin !== new URL(request.url).origin) pairs = headers.without(pairs, ...CREDENTIALS);
  return { url: url.href, method, pairs: headers.without(pairs, "host"), body };
}

/** Headers that each hop has of its own: its target, its framing, and its cookies. */
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
 * A hop, one hop behind.
 *
 * @typedef {object} Hop
 * @property {string} id of its request
 * @property {string} url that answered with the redirect
 * @property {headers.Pairs} [override] the headers that a handler continued the chain with
 * @property {boolean} isJudged whether the proxy decides about the next hop, too
 * @property {{ send(message: object, links: number): void }} reporter who tells the proxy of it
 * @property {boolean} isReported whether the proxy is told of it at all
 */

/**
 * The headers that a handler continued a request with hold for the redirects
 * that it starts, as Playwright's do; but credentials never leave their origin.
 * @param {headers.Pairs} override
 * @param {string} from the URL of the hop before
 * @param {import('../protocol/messages.js').Outgoing} hop as the client would send it
 * @returns {{ override: headers.Pairs, request: import('../protocol/messages.js').Outgoing }} what holds for the hop after this one, and what is sent
 */
function overridden(override, from, hop) {
  const isElsewhere = new URL(from).origin !== new URL(hop.url).origin;
  const held = isElsewhere ? headers.without(override, ...CREDENTIALS) : override;
  const own = hop.pairs.filter(([name]) => HOP_HEADERS.includes(name.toLowerCase()));
  const isEmpty = !hop.body?.length && !hop.truncated;
  const rest = headers.without(held, ...HOP_HEADERS, ...(isEmpty ? BODY_HEADERS : []));
  return { override: held, request: { ...hop, pairs: [...own, ...rest] } };
}

/** A call of a client library: what it is, and how far it has got. */
class Chain {
  constructor() {
    /** @type {{ hop: Hop, location: string, report: import('./report.js').Report } | undefined} */
    this.last = undefined;
    /** Whether the call is `new globalThis.WebSocket(...)`. */
    this.isGlobalSocket = false;
    /** @type {WebSocket | undefined} */
    this.socket = undefined;
    /** Whether that had its `open` event. */
    this.wasSocketOpen = false;
    /** Whether that had its `close` event. */
    this.isSocketClosed = false;
  }

  /**
   * A redirect came, after which the client may go on.
   * @param {string} id of the request that got it
   * @param {import('./report.js').Report} report
   * @param {{ override?: headers.Pairs, judgesHops: boolean, reporter: Hop['reporter'], isReported: boolean }} exchange how it was decided
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
   * @param {string} url that is asked now
   * @returns {boolean} whether it is the next hop
   */
  leadsTo(url) {
    return this.last?.location === withoutHash(new URL(url));
  }

  /** @returns {boolean} whether the next hop's headers are a handler's */
  get isOverridden() {
    return this.last?.hop.override !== undefined;
  }

  /**
   * @param {string} url that is asked now
   * @returns {Hop | undefined} the hop before, when this follows one
   */
  take(url) {
    const { last } = this;
    if (!last || !this.leadsTo(url)) return undefined;
    this.last = undefined;
    // The hop before is reported first, whole or not: its body may never be read.
    last.report.cut();
    return last.hop;
  }
}

/** @param {URL} url */
const withoutHash = (url) => url.href.split("#")[0];

/** The chain of the call that runs now. @type {AsyncLocalStorage<Chain>} */
const chains = new AsyncLocalStorage();

module.exports = { Chain, chains, isRedirect, nextHop, overridden };
