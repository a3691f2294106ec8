"use strict";

/** Written from `FACTS` of tools/facts.py: do not edit. */
module.exports = {
  PROTOCOL_VERSION: 3,
  DEFAULT_PROXY_URL: "http://127.0.0.1:4310",
  AGENT_FEATURES: ["context", "faults", "headers-list", "local", "seen-contexts", "stream", "stream-mocks", "strict"],
  REQUIRED_FEATURES: ["headers-list", "stream", "context", "strict"],
  MAX_MESSAGE_BYTES: 104857600,
  BODY_LIMITS: {"history": 8388608, "handler": 67108864},
  MOST_HAR_BYTES: 103809024,
  MOST_REDIRECTS: 20,
  FIRST_PAUSE_MS: 250,
  ACK_MS: 5000,
  REDIRECTS: [301, 302, 303, 307, 308],
  BODILESS_STATUSES: [204, 205, 304],
  UNFRAMED_STATUSES: [204, 304],
  FINAL_STATUSES: {"first": 200, "last": 599},
  CREDENTIALS: ["authorization", "cookie", "cookie2", "proxy-authorization"],
  CONTENT_HEADERS: ["content-encoding", "content-language", "content-length", "content-location", "content-type"],
  HAR_REQUEST: ["method", "url", "headers", "postData"],
  HAR_RESPONSE: ["status", "statusText", "headers", "content", "_failureText", "_error", "_pieces"],
  UNDER_TEST: "127(?:\\.[0-9]+){3}|\\[::1\\]|(?:.*\\.)?localhost|[^.\\[\\]]+",
  GLOB_WITHOUT_PATH: "[^/*][^/]*://[^/?]*\\*\\*",
  REPORT: {"format": 1, "longestName": 80, "modes": ["retain-on-failure", "on", "off"], "bodyBytes": 262144, "mostBodyBytes": 8388608, "pageBytes": 67108864, "longestError": 20000, "mostRounds": 5},
  /** @type {Record<string, string>} */ PLAYWRIGHT_CODES: {"aborted": "aborted", "accessdenied": "failed", "addressunreachable": "failed", "blockedbyclient": "failed", "blockedbyresponse": "failed", "connectionaborted": "failed", "connectionclosed": "failed", "connectionfailed": "failed", "connectionrefused": "connectionrefused", "connectionreset": "connectionreset", "failed": "failed", "internetdisconnected": "failed", "namenotresolved": "namenotresolved", "timedout": "timedout"},
  /** @type {Record<string, { code: string, errno: number, syscall: string }>} */ NETWORK_ERRORS: {"failed": {"code": "ECONNRESET", "errno": -104, "syscall": "read"}, "connectionreset": {"code": "ECONNRESET", "errno": -104, "syscall": "read"}, "aborted": {"code": "ECONNABORTED", "errno": -103, "syscall": "read"}, "timedout": {"code": "ETIMEDOUT", "errno": -110, "syscall": "connect"}, "connectionrefused": {"code": "ECONNREFUSED", "errno": -111, "syscall": "connect"}, "namenotresolved": {"code": "ENOTFOUND", "errno": -3008, "syscall": "getaddrinfo"}},
};
