"use strict";

/** @import { RouteHandle as PublicRouteHandle } from "../../index.js" */

/**
 * A route of a test, with the requests that met it.
 * @implements {PublicRouteHandle}
 */
class RouteHandle {
  #session;
  #entry;

  /**
   * @param {import("../session/session.js").Session} session
   * @param {import("../session/http-routes.js").RouteEntry} entry
   */
  constructor(session, entry) {
    this.#session = session;
    this.#entry = entry;
  }

  async callCount() {
    // Messages that the proxy sent before come before its answer.
    await this.#session.connection.barrier();
    return this.#entry.calls;
  }

  async requests() {
    await this.#session.connection.barrier();
    return this.#entry.requests().map((state) => this.#session.views.request(state));
  }

  async unroute() {
    const { http } = this.#session;
    if (http.live.includes(this.#entry)) await http.remove([this.#entry]);
  }
}

module.exports = { RouteHandle };
