"use strict";

/** @import { Route as PublicRoute } from "../../index.js" */

const { checked } = require("../arguments/options.js");

/** @type {WeakMap<object, import("../session/routed-request.js").RoutedRequest>} */
const routedRequests = new WeakMap();

/**
 * A request that a handler decides (Playwright's `Route`).
 * @implements {PublicRoute}
 */
class Route {
  #routed;

  /** @param {import("../session/routed-request.js").RoutedRequest} routed */
  constructor(routed) {
    this.#routed = routed;
    routedRequests.set(this, routed);
  }

  request() {
    return this.#routed.session.views.request(this.#routed.request);
  }

  // An asynchronous method keeps a reference to the route until it ends, even if the handler does not await it.

  /** @param {import("../../index.js").FulfillOptions} [options] */
  async fulfill(options) {
    await this.#routed.fulfill(checked("route.fulfill", options));
  }

  /** @param {import("../../index.js").ContinueOptions & import("../../index.js").DelayOptions} [options] */
  async continue(options) {
    this.#routed.continue(checked("route.continue", options));
  }

  /** @param {import("../../index.js").ContinueOptions} [options] */
  async fallback(options) {
    this.#routed.fallback(checked("route.fallback", options));
  }

  /** @param {import("../../index.js").FetchOptions} [options] */
  async fetch(options) {
    const response = await this.#routed.fetch(checked("route.fetch", options));
    return this.#routed.session.views.response(response);
  }

  /**
   * @param {string} [errorCode]
   * @param {import("../../index.js").AbortOptions} [options]
   */
  async abort(errorCode, options) {
    this.#routed.abort(errorCode, checked("route.abort", options));
  }
}

/**
 * @param {any} view
 * @returns {any} the `RoutedRequest` that the route decides
 */
const routedOf = (view) => routedRequests.get(view);

module.exports = { Route, routedOf };
