"use strict";

/** The errors that tests see. */

/** The parent of all errors of this package. */
class TrafficMockError extends Error {
  /**
   * @param {string} message
   * @param {{ cause?: unknown }} [options]
   */
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A call with wrong arguments. Nothing was sent. */
class UsageError extends TrafficMockError {}

/** The proxy cannot be reached, refuses this worker, or the connection to it is lost. */
class ConnectionError extends TrafficMockError {}

/** Nothing came before the time was over. */
class TimeoutError extends TrafficMockError {}

/** The test ended, or a wait was given up. */
class TestEndedError extends TrafficMockError {}

/** The request was decided before. */
class AlreadyHandledError extends TrafficMockError {}

/** An upstream fetch of a handler failed. */
class FetchError extends TrafficMockError {
  /**
   * @param {string} message
   * @param {string} [code] the network's own, such as `ECONNREFUSED`, or the proxy's
   */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** The proxy refused a request of the application, or could not settle it. */
class RoutingError extends TrafficMockError {
  /**
   * @param {string} message
   * @param {{ code: string, detail?: unknown }} told
   */
  constructor(message, { code, detail }) {
    super(message);
    this.code = code;
    this.detail = detail;
    /** How many more requests failed in the same way. */
    this.repeats = 0;
  }
}

/** Nobody decided the request. */
class UndecidedError extends TrafficMockError {}

module.exports = {
  AlreadyHandledError,
  ConnectionError,
  FetchError,
  RoutingError,
  TestEndedError,
  TimeoutError,
  TrafficMockError,
  UndecidedError,
  UsageError,
};
