"use strict";

/** The version, the features and the limits of protocol 3. */
module.exports = {
  PROTOCOL_VERSION: 3,
  /** The features beyond protocol 3 that the agent requires of a proxy. */
  REQUIRED: ["headers-list", "stream", "context", "strict"],
  /** The features that the agent supports besides; and `local`. */
  OPTIONAL: ["faults", "stream-mocks"],
  /** The largest message; bytes. */
  MAX_FRAME_BYTES: 104857600,
  /** The time limit for the answer to `hello`; ms. */
  HANDSHAKE_MS: 1900,
  /** The time from a lost link to the next attempt; ms, doubled each time up to the second value. */
  FIRST_RETRY_MS: 100,
  LAST_RETRY_MS: 5000,
  /** The limits of a response's copy for the history, and of a body for a handler, until the proxy names its own; bytes. */
  BODY_LIMITS: { history: 8 * 1024 * 1024, handler: 64 * 1024 * 1024 },
};
