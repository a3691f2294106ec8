"use strict";

const { randomUUID } = require("node:crypto");
const { UsageError } = require("../errors.js");
const { callSite, written } = require("./call-site.js");
const { RoutedRequest } = require("./routed-request.js");

/**
 * @typedef {import("../arguments/matcher.js").Matcher} Matcher
 * @typedef {import("./request-state.js").RequestState} RequestState
 * @typedef {"default" | "wait" | "ignoreErrors"} Behavior
 */

const BEHAVIORS = ["default", "wait", "ignoreErrors"];

/** One registered handler. */
class RouteEntry {
  /**
   * @param {Matcher} matcher
   * @param {Function} handler
   * @param {number} [times] how many requests it takes
   */
  constructor(matcher, handler, times = Infinity) {
    this.id = randomUUID();
    this.matcher = matcher;
    this.handler = handler;
    // Less than one counts as one, NaN as no limit (Playwright's rule).
    this.left = Number.isNaN(times) ? Infinity : Math.max(times, 1);
    /** Whether it was neither unrouted nor used up. */
    this.isActive = true;
    /** Whether what its running calls throw from now on is nobody's business. */
    this.ignoresErrors = false;
    /** @type {Set<Promise<unknown>>} one for each call that has not returned */
    this.running = new Set();
    this.placeOf = callSite();
    /** @type {HttpRoutes | undefined} where it was registered: it may end the chain of another test of this worker */
    this.home = undefined;
  }

  /** Which handler this is, and where it was registered. */
  get name() {
    const name = this.handler.name ? `the handler ${this.handler.name}` : "the handler";
    const place = this.placeOf();
    return place ? `${name} (${written(place)})` : name;
  }
}

/** A test's handlers for HTTP requests, a chain with the newest first, and the requests they have in hand. */
class HttpRoutes {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    /** @type {RouteEntry[]} */
    this.live = [];
    /** @type {Map<string, RouteEntry>} by id, those included that were removed */
    this.known = new Map();
    /** @type {Map<string, RoutedRequest>} requests that are not decided */
    this.open = new Map();
    /** @type {Map<string, RoutedRequest>} all requests that the test owned */
    this.owned = new Map();
  }

  /**
   * Register a handler before all others.
   *
   * @param {Matcher} matcher
   * @param {Function} handler
   * @param {number} [times]
   * @returns {Promise<void>} settles when every later request may meet it
   */
  async route(matcher, handler, times) {
    const entry = new RouteEntry(matcher, handler, times);
    entry.home = this;
    this.live.unshift(entry);
    this.known.set(entry.id, entry);
    await this.session.registration.addRoute(entry, "http");
  }

  /**
   * Remove handlers.
   *
   * @param {Matcher | undefined} matcher all without one
   * @param {Function | undefined} handler all without one
   */
  async unroute(matcher, handler) {
    const entries = this.live.filter(
      (entry) => (!matcher || entry.matcher.sameAs(matcher)) && (!handler || entry.handler === handler),
    );
    await this.remove(entries);
  }

  /**
   * Remove all handlers.
   *
   * @param {Behavior} behavior of those that still run: `default` lets their requests go on, `wait` waits for them,
   *   `ignoreErrors` does neither and swallows what they throw from now on
   */
  async unrouteAll(behavior) {
    if (!BEHAVIORS.includes(behavior)) {
      throw new UsageError(`behavior is one of ${BEHAVIORS.join(", ")}, not ${behavior}`);
    }
    const entries = [...this.live];
    for (const entry of entries) entry.ignoresErrors = behavior === "ignoreErrors";
    await this.remove(entries);
    if (behavior === "wait") await Promise.all(entries.flatMap((entry) => [...entry.running]));
    if (behavior !== "default") return;
    for (const routed of [...this.open.values()]) {
      if (routed.entry && entries.includes(routed.entry)) routed.continueUpstream();
    }
  }

  /** @param {RouteEntry[]} entries */
  async remove(entries) {
    for (const entry of entries) entry.isActive = false;
    this.live = this.live.filter((entry) => entry.isActive);
    await Promise.all(entries.map((entry) => this.session.registration.removeRoute(entry.id)));
  }

  /**
   * Note that a handler's call begins; it may be its last.
   * @param {RouteEntry} entry
   */
  count(entry) {
    entry.left -= 1;
    if (entry.left > 0 || !entry.isActive) return;
    entry.isActive = false;
    const home = entry.home ?? this;
    home.live = home.live.filter((each) => each !== entry);
    this.session.send({ type: "route:unregister", routeId: entry.id });
  }

  /**
   * Ask a route about a request as it is now.
   *
   * @param {RouteEntry} entry
   * @param {{ url: string, method: string, clientId: string }} request
   */
  judge(entry, request) {
    try {
      return entry.matcher.matches(request);
    } catch (error) {
      this.session.errors.thrownByPredicate(error, entry.matcher, request.url);
      return false;
    }
  }

  // Messages

  /** @param {any} message `request:claim` */
  claimed({ requestId, request: { url, method }, clientId }) {
    const matches = this.live
      .filter((entry) => this.judge(entry, { url, method, clientId }))
      .map(({ id }) => ({ routeId: id }));
    this.session.send({ type: "request:claim-result", requestId, testId: this.session.id, matches });
  }

  /** @param {any} message `request:matched` */
  matched(message) {
    const state = this.session.observe(message);
    const routed = new RoutedRequest(this.session, state, [...this.live, ...this.session.sharedHandlers()]);
    this.open.set(state.id, routed);
    this.owned.set(state.id, routed);
    routed.proceed().catch((error) => this.session.errors.add(error));
  }

  /**
   * @param {RequestState} request
   * @returns {string} what keeps it from being decided, as far as that is known
   */
  problemOf({ id }) {
    const routed = this.open.get(id);
    return routed?.stage === "held" ? `${routed.entry?.name} returned without a decision` : "";
  }

  /** Fail what handlers left undecided for later, which is now too late. */
  end() {
    for (const routed of [...this.open.values()]) {
      // What has ended without a decision, as when the application gave it up, waits for none.
      const isWaiting = routed.stage === "held" && routed.request.response === undefined;
      if (isWaiting) routed.giveUp("returned without a decision, and none came until the test ended");
    }
  }
}

module.exports = { HttpRoutes, RouteEntry };
