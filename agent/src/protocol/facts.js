"use strict";

/* Written by `python -m tools.facts`: what is changed here is lost. */
module.exports = {
  /** The protocol of the messages */
  PROTOCOL_VERSION: 3,
  /** The features of agents, beyond the protocol */
  AGENT_FEATURES: ["context", "faults", "headers-list", "local", "stream", "stream-mocks", "strict"],
  /** Those that a proxy must have */
  REQUIRED_FEATURES: ["headers-list", "stream", "context", "strict"],
  /** The largest message; bytes */
  MAX_MESSAGE_BYTES: 104857600,
  /** The limits of a body for the history and a handler, until a proxy names its own; bytes */
  BODY_LIMITS: {"history": 8388608, "handler": 67108864},
  /** The entries of a route from a HAR; bytes */
  MOST_HAR_BYTES: 103809024,
  /** The time for the proxy's acknowledgements; ms */
  ACK_MS: 5000,
  /** The most redirects of a fetch, by default */
  MOST_REDIRECTS: 20,
  /** The pause before the first retry of a fetch, doubled for each further one; ms */
  FIRST_PAUSE_MS: 250,
  /** The statuses of redirects */
  REDIRECTS: [301, 302, 303, 307, 308],
  /** The statuses without content */
  BODILESS_STATUSES: [204, 205, 304],
  /** The statuses of responses that end with their head (RFC 9112, section 6.3) */
  UNFRAMED_STATUSES: [204, 304],
  /** The statuses that a mock may have */
  FINAL_STATUSES: {"first": 200, "last": 599},
  /** Headers that no redirect takes to another origin */
  CREDENTIALS: ["authorization", "cookie", "cookie2", "proxy-authorization"],
  /** Headers about the content of a message */
  CONTENT_HEADERS: ["content-encoding", "content-language", "content-length", "content-location", "content-type"],
  /** Playwright's error codes, with the abort code for each. @type {Record<string, string>} */
  PLAYWRIGHT_CODES: {"aborted": "aborted", "accessdenied": "failed", "addressunreachable": "failed", "blockedbyclient": "failed", "blockedbyresponse": "failed", "connectionaborted": "failed", "connectionclosed": "failed", "connectionfailed": "failed", "connectionrefused": "connectionrefused", "connectionreset": "connectionreset", "failed": "failed", "internetdisconnected": "failed", "namenotresolved": "namenotresolved", "timedout": "timedout"},
  /** The error for each abort code (errno as on Linux). @type {Record<string, { code: string, errno: number, syscall: string }>} */
  NETWORK_ERRORS: {"failed": {"code": "ECONNRESET", "errno": -104, "syscall": "read"}, "connectionreset": {"code": "ECONNRESET", "errno": -104, "syscall": "read"}, "aborted": {"code": "ECONNABORTED", "errno": -103, "syscall": "read"}, "timedout": {"code": "ETIMEDOUT", "errno": -110, "syscall": "connect"}, "connectionrefused": {"code": "ECONNREFUSED", "errno": -111, "syscall": "connect"}, "namenotresolved": {"code": "ENOTFOUND", "errno": -3008, "syscall": "getaddrinfo"}},
};
