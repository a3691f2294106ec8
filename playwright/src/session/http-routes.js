"use strict";

const { randomUUID } = require("node:crypto");
const { UsageError } = require("../errors.js");
const { callSite, written } = require("./call-site.js");
const { now } = require("./proxy-clock.js");
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
    if (typeof times !== "number") throw new UsageError(`times is a number of requests, not ${JSON.stringify(times)}`);
    this.id = randomUUID();
    this.matcher = matcher;
    this.handler = handler;
    /** When it was made, by the clock of this process. */
    this.began = now();
    // Less than one counts as one, NaN as no limit (Playwright's rule).
    this.left = Number.isNaN(times) ? Infinity : Math.max(times, 1);
    /** The number of requests that it got. */
    this.calls = 0;
    /** Whether it was neither removed nor used up. */
    this.isActive = true;
    /** Whether errors of its running calls are ignored from now on. */
    this.ignoresErrors = false;
    /** @type {Set<Promise<unknown>>} one for each call that has not returned */
    this.running = new Set();
    this.placeOf = callSite();
    /** @type {HttpRoutes | undefined} the routes of its test; a shared handler is also in the chains of other tests */
    this.home = undefined;
    /** @type {object | undefined} its fixed response, without a URL, if it has one */
    this.reply = undefined;
    /** @type {import("../har/har-replies.js").RecordedReply[]} the responses that the proxy sends without the handler */
    this.replies = [];
    /** Whether the proxy has the fixed response and counts `times`. */
    this.isCounted = false;
  }

  /** The name of the handler, with the place of its registration. */
  get name() {
    if (this.reply) {
      const place = this.placeOf();
      return place ? `the mock (${written(place)})` : "the mock";
    }
    const name = this.handler.name ? `the handler ${this.handler.name}` : "the handler";
    const place = this.placeOf();
    return place ? `${name} (${written(place)})` : name;
  }
}

/** The HTTP handlers of a test, newest first, and the requests that they have not decided yet. */
class HttpRoutes {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    /** @type {RouteEntry[]} */
    this.live = [];
    /** @type {Map<string, RouteEntry>} all handlers by id, with those that were removed */
    this.known = new Map();
    /** @type {Map<string, RoutedRequest>} the undecided requests */
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
   * @param {import("../har/har-replies.js").RecordedReply[]} [replies] its fixed responses by method and URL, for a proxy
   *   with the feature `reply`
   * @returns {Promise<void>} resolved when all later requests are compared with the route
   * @throws {UsageError} `times` is not a number
   */
  async route(matcher, handler, times, replies = []) {
    const entry = new RouteEntry(matcher, handler, times);
    entry.replies = replies;
    await this.register(entry);
  }

  /**
   * Register a fixed response as a handler before all others. A proxy with the feature `reply` sends it and counts `times`.
   *
   * @param {Matcher} matcher
   * @param {object} reply the response, without a URL
   * @param {number} [times]
   * @throws {RoutingError} the proxy cannot send this response
   */
  async mock(matcher, reply, times) {
    const entry = new RouteEntry(
      matcher,
      (/** @type {unknown} */ view) => this.session.views.routedOf(view).reply(entry, reply),
      times,
    );
    entry.reply = reply;
    entry.isCounted = Number.isSafeInteger(Math.ceil(entry.left)) && this.session.connection.features.has("reply");
    try {
      await this.register(entry);
    } catch (error) {
      this.drop(entry);
      throw error;
    }
  }

  /** @param {RouteEntry} entry */
  async register(entry) {
    entry.home = this;
    this.live.unshift(entry);
    this.known.set(entry.id, entry);
    await this.session.registration.addRoute(entry, "http");
  }

  /** @param {RouteEntry} entry to remove from the handlers, without a message to the proxy */
  drop(entry) {
    entry.isActive = false;
    this.live = this.live.filter((each) => each !== entry);
  }

  /**
   * Remove handlers.
   *
   * @param {Matcher | undefined} matcher of the handlers to remove; by default any
   * @param {Function | undefined} handler to remove; by default any
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
   * @param {Behavior} behavior for handlers that still run: `default` sends their requests upstream, `wait` waits until
   *   they return, `ignoreErrors` does neither and ignores their errors from now on
   * @throws {UsageError} another `behavior`
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
      if (routed.stage === "counted") continue;
      if (routed.entry && entries.includes(routed.entry)) routed.continueUnhandled();
    }
  }

  /** @param {RouteEntry[]} entries */
  async remove(entries) {
    for (const entry of entries) entry.isActive = false;
    this.live = this.live.filter((entry) => entry.isActive);
    await Promise.all(entries.map((entry) => this.session.registration.removeRoute(entry.id)));
  }

  /**
   * Count a call of a handler, and remove the handler if it was the last one.
   * @param {RouteEntry} entry
   */
  count(entry) {
    if (entry.isCounted) return;
    entry.left -= 1;
    if (entry.left > 0 || !entry.isActive) return;
    (entry.home ?? this).drop(entry);
    this.session.send({ type: "route:unregister", routeId: entry.id });
  }

  /**
   * Test a route with a request. An error of a predicate is added to the test's errors.
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
    this.session.waiters.requestMatched(state);
    this.checkContext(message);
    const routed = new RoutedRequest(this.session, state, [...this.live, ...this.session.sharedHandlers()]);
    this.open.set(state.id, routed);
    this.owned.set(state.id, routed);
    routed.proceed().catch((error) => this.session.errors.add(error));
  }

  /** @param {any} message `request:matched` or `request:replied` */
  checkContext(message) {
    const { info, errors } = this.session;
    if (info.isolation === "required" && message.context === undefined) errors.withoutContext(message);
  }

  /**
   * @param {string} id of a request
   * @returns {string} why the request is not decided; empty if it is, or if this test does not own it
   */
  problemOf(id) {
    const routed = this.open.get(id);
    if (routed?.stage === "held") return `${routed.entry?.name} returned without a decision`;
    return routed?.stage === "running" ? `${routed.entry?.name} has not returned` : "";
  }

  /** @param {any} message `request:replied`: the proxy sent one of the test's fixed responses */
  replied(message) {
    const state = this.session.observe(message);
    this.checkContext(message);
    const routed = new RoutedRequest(this.session, state, []);
    routed.entry = this.known.get(message.routeId);
    if (routed.entry) routed.entry.calls += 1;
    routed.replied();
    this.owned.set(state.id, routed);
  }

  /** @param {any} message `route:expired`: the proxy has sent a fixed response `times` times */
  expired({ routeId, requestId }) {
    const entry = this.known.get(routeId);
    if (entry?.isActive) this.drop(entry);
    const routed = this.open.get(requestId);
    if (routed?.stage !== "counted" || routed.entry?.id !== routeId) return;
    routed.proceed().catch((error) => this.session.errors.add(error));
  }

  /** Fail requests whose handler returned without a decision. */
  end() {
    for (const routed of [...this.open.values()]) {
      if (routed.isWaiting) routed.giveUp("returned without a decision, and none came until the test ended");
    }
  }
}

module.exports = { HttpRoutes, RouteEntry };
