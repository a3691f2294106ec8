"use strict";

/** The errors that tests catch. */

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

/** A call has an invalid argument, or the proxy lacks a feature that it needs; nothing was sent. */
class UsageError extends TrafficMockError {}

/** The proxy cannot be reached, refuses this worker, or the connection to it is lost. */
class ConnectionError extends TrafficMockError {}

/** No request or response matched within the timeout; the text lists those that came. */
class TimeoutError extends TrafficMockError {}

/** The test ended before the call or during it, or a wait was aborted. */
class TestEndedError extends TrafficMockError {}

/** No request met a route that a request has to meet (`required`); the text names it, and the nearest requests. */
class UnmetRouteError extends TrafficMockError {}

/** A handler decided a request that is decided already. */
class AlreadyHandledError extends TrafficMockError {}

/** A handler's `fetch` got no response from upstream. */
class FetchError extends TrafficMockError {
  /**
   * @param {string} message
   * @param {string} [code] of the network, such as `ECONNREFUSED`, or of the proxy
   */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** The application closed a streamed answer, or its connection is lost: no further part arrives. */
class StreamClosedError extends TrafficMockError {}

/** The proxy reported an error about a test: it refused a request of the application, or could not decide it. */
class RoutingError extends TrafficMockError {
  /**
   * @param {string} message
   * @param {{ code: string, detail?: unknown }} fields the fields of the proxy's message
   */
  constructor(message, { code, detail }) {
    super(message);
    this.code = code;
    this.detail = detail;
    /** The number of further requests that failed in the same way. */
    this.repeats = 0;
  }
}

const WITHOUT_CONTEXT =
  "Put trafficmock.headers or trafficmock.cookie() on the requests of the test; if they have them, the application lost " +
  "the context between the request that came in and this one.";

/** A request came without the context that its test requires (`isolation: "required"`). */
class IsolationError extends TrafficMockError {
  /**
   * @param {string} request its method and URL
   * @param {string} clientId the client id of the application that sent it
   * @param {string} [lost] where it lost the context, and what to do, as the proxy says
   */
  constructor(request, clientId, lost = WITHOUT_CONTEXT) {
    super(`${request} of the application "${clientId}" came without the context of this test. ${lost}`);
    this.request = request;
    /** The number of further requests with this method and URL. */
    this.repeats = 0;
  }
}

/** A request carries one test's context, although only another test has a route for it (`isolation: "required"`). */
class MixedContextError extends TrafficMockError {}

/** A handler returned without a decision and kept no reference to the route. */
class UndecidedError extends TrafficMockError {}

module.exports = {
  AlreadyHandledError,
  ConnectionError,
  FetchError,
  IsolationError,
  MixedContextError,
  RoutingError,
  StreamClosedError,
  TestEndedError,
  TimeoutError,
  TrafficMockError,
  UndecidedError,
  UnmetRouteError,
  UsageError,
};
