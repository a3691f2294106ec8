"use strict";

/** There is no environment, and none can be made; the message says what to do. */
class EnvironmentError extends Error {
  name = "EnvironmentError";
}

module.exports = { EnvironmentError };
