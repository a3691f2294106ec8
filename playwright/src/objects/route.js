"use strict";

/** @import { Route as PublicRoute } from "../../index.js" */

const { anObject, checked } = require("../arguments/options.js");
const { sentOptions } = require("../arguments/sent-options.js");
const { isParts } = require("../arguments/stream-parts.js");
const { AwaitedStream } = require("../session/written-stream.js");
const { Stream } = require("./stream.js");

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

  /**
   * @param {import("../../index.js").FulfillOptions} [options]
   * @returns {Promise<any>}
   */
  async fulfill(options = {}) {
    const { body, ...others } = anObject("route.fulfill", options);
    if (isParts(body)) await this.#pour(/** @type {any} */ (body), others);
    else await this.#routed.fulfill({ body: /** @type {any} */ (body), ...others });
  }

  /** @param {import("../../index.js").StreamOptions} [options] */
  async stream(options = {}) {
    return this.#stream(anObject("route.stream", options));
  }

  /**
   * @param {import("../../index.js").ContinueOptions & import("../../index.js").DelayOptions} [options]
   * @returns {Promise<any>}
   */
  async continue(options = {}) {
    await this.#routed.continue(anObject("route.continue", options));
  }

  /**
   * @param {import("../../index.js").ContinueOptions} [options]
   * @returns {Promise<any>}
   */
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
   * @returns {Promise<any>}
   */
  async abort(errorCode, options = {}) {
    await this.#routed.abort(errorCode, anObject("route.abort", options));
  }

  /** @param {import("../../index.js").StreamOptions} options */
  async #stream(options) {
    const awaited = new AwaitedStream(this.#routed.session.streams);
    const { stream, read } = this.#routed.stream(await sentOptions(options));
    awaited.begin?.(stream);
    await read;
    return new Stream(awaited);
  }

  /**
   * Send the parts of an iterable, which is closed if the application goes away.
   *
   * @param {AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>} parts
   * @param {import("../../index.js").FulfillOptions} options
   */
  async #pour(parts, options) {
    const stream = await this.#stream(options);
    for await (const part of parts) await stream.send(part);
    await stream.end();
  }
}

/**
 * @param {any} view
 * @returns {any} the `RoutedRequest` that the route decides
 */
const routedOf = (view) => routedRequests.get(view);

module.exports = { Route, routedOf };
