"use strict";

/** @import { Route as PublicRoute } from "../../index.js" */

/** @type {WeakMap<object, import("../session/routed-request.js").RoutedRequest>} */
const routedRequests = new WeakMap();

/**
 * A request that a handler decides (Playwright's `Route`).
 * @implements {PublicRoute}
 */
class Route {
  #routed;
  #entry;

  /** @param {import("../session/routed-request.js").RoutedRequest} routed */
  constructor(routed) {
    this.#routed = routed;
    this.#entry = routed.entry;
    routedRequests.set(this, routed);
  }

  /** @returns {import("../session/routed-request.js").RoutedRequest} the request, if it is still this handler's to decide */
  #own() {
    this.#routed.checkHandler(this.#entry);
    return this.#routed;
  }

  request() {
    return this.#routed.session.views.request(this.#routed.request);
  }

  // An asynchronous method keeps a reference to the route until it ends, even if the handler does not await it.

  /** @param {import("../../index.js").FulfillOptions} [options] */
  async fulfill(options) {
    await this.#own().fulfill(options);
  }

  /** @param {import("../../index.js").ContinueOptions} [options] */
  async continue(options) {
    this.#own().continue(options);
  }

  /** @param {import("../../index.js").ContinueOptions} [options] */
  async fallback(options) {
    this.#own().fallback(options);
  }

  /** @param {import("../../index.js").FetchOptions} [options] */
  async fetch(options) {
    return this.#routed.session.views.response(await this.#own().fetch(options));
  }

  /** @param {string} [errorCode] */
  async abort(errorCode) {
    this.#own().abort(errorCode);
  }
}

/**
 * @param {any} view
 * @returns {any} the `RoutedRequest` that the route decides
 */
const routedOf = (view) => routedRequests.get(view);

module.exports = { Route, routedOf };
