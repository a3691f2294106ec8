"use strict";

/*
 * Written by `python -m tools.facts` from trafficmock/wire. What is changed here is lost.
 */
module.exports = {
  /** Playwright's error codes, with the abort code of protocol 3 for each. @type {Record<string, string>} */
  PLAYWRIGHT_CODES: {
    aborted: "aborted",
    accessdenied: "failed",
    addressunreachable: "failed",
    blockedbyclient: "failed",
    blockedbyresponse: "failed",
    connectionaborted: "failed",
    connectionclosed: "failed",
    connectionfailed: "failed",
    connectionrefused: "connectionrefused",
    connectionreset: "connectionreset",
    failed: "failed",
    internetdisconnected: "failed",
    namenotresolved: "namenotresolved",
    timedout: "timedout",
  },
  /** The error of the kernel or the resolver for each abort code (errno as on Linux). @type {Record<string, { code: string, errno: number, syscall: string }>} */
  NETWORK_ERRORS: {
    failed: { code: "ECONNRESET", errno: -104, syscall: "read" },
    connectionreset: { code: "ECONNRESET", errno: -104, syscall: "read" },
    aborted: { code: "ECONNABORTED", errno: -103, syscall: "read" },
    timedout: { code: "ETIMEDOUT", errno: -110, syscall: "connect" },
    connectionrefused: { code: "ECONNREFUSED", errno: -111, syscall: "connect" },
    namenotresolved: { code: "ENOTFOUND", errno: -3008, syscall: "getaddrinfo" },
  },
  /** The statuses of redirects. */
  REDIRECTS: [301, 302, 303, 307, 308],
  /** The statuses of responses that end with their head (RFC 9112, section 6.3). */
  UNFRAMED_STATUSES: [204, 304],
  /** The statuses without content. */
  BODILESS_STATUSES: [204, 205, 304],
  /** The statuses that a mock may have. */
  FINAL_STATUSES: {
    first: 200,
    last: 599,
  },
  /** Headers that no redirect takes to another origin. */
  CREDENTIALS: ["authorization", "cookie", "cookie2", "proxy-authorization"],
  /** Headers about the content of a message. */
  CONTENT_HEADERS: ["content-encoding", "content-language", "content-length", "content-location", "content-type"],
  /** The most redirects that a fetch follows by default. */
  MOST_REDIRECTS: 20,
  /** The pause before the first retry of a fetch, doubled for each further one; ms. */
  FIRST_PAUSE_MS: 250,
  /** The most bytes of the entries of a route from a HAR. */
  MOST_HAR_BYTES: 103809024,
};
