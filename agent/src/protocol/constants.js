"use strict";

/** Protocol 3: its version, features and limits, as both ends must know them. */
module.exports = {
  PROTOCOL_VERSION: 3,
  /** What is spoken beyond protocol 3. */
  FEATURES: ["headers-list", "stream", "context", "strict", "local"],
  /** The largest message; bytes. */
  MAX_FRAME_BYTES: 104857600,
  /** How long the proxy may take to answer `hello`; ms. */
  HANDSHAKE_MS: 1900,
  /** How long after a lost link the next one is tried; ms, doubled up to the last. */
  FIRST_RETRY_MS: 100,
  LAST_RETRY_MS: 5000,
  /** How much of a response is copied for the history, when the proxy does not say; bytes as they came. */
  HISTORY_BODY_BYTES: 8 * 1024 * 1024,
  /** How much of a request's body a handler may be handed, when the proxy does not say; bytes. */
  HANDLER_BODY_BYTES: 64 * 1024 * 1024,
};
