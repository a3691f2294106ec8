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
 * @typedef {{ times?: number, required?: boolean, used?: Set<number> }} RouteOptions how many requests it takes; whether
 *   the test fails if none meets it; where the numbers of the entries of its HAR go that answer
 * @typedef {{ name: string, entries: any[], notFound: string, pace?: number, matchOn?: string[], ignore?: string[],
 *   inOrder?: boolean, followRedirects?: boolean }} SentHar the HAR of `route:register`
 * @typedef {{ options?: import("../arguments/sent-options.js").SentOptions, har?: SentHar, record?: object }} RouteAnswers the options
 *   of the answers to the requests of a route; the HAR that has those to some; or how one is recorded
 */

const BEHAVIORS = ["default", "wait", "ignoreErrors"];

/** One registered handler. */
class RouteEntry {
  /**
   * @param {Matcher} matcher
   * @param {Function} [handler] none for a fixed response
   * @param {RouteOptions} [options]
   */
  constructor(matcher, handler, { times, required = false, used } = {}) {
    this.id = randomUUID();
    this.matcher = matcher;
    /** @type {Function} */
    this.handler = handler ?? neverRuns;
    /** When it was made, by the clock of this process. */
    this.began = now();
    this.times = readTimes(times);
    this.required = required;
    /** The numbers of the entries of its HAR that have answered. */
    this.used = used;
    /** The number of requests that it got. */
    this.calls = 0;
    /** @type {WeakRef<RequestState>[]} those requests, as long as their tests have them */
    this.met = [];
    /** Whether errors of its running calls are ignored from now on. */
    this.ignoresErrors = false;
    /** @type {Set<Promise<unknown>>} one for each call that has not returned */
    this.running = new Set();
    this.placeOf = callSite();
    /** @type {RouteAnswers | undefined} by which the proxy answers, without a handler */
    this.answers = undefined;
    /** @type {import("../arguments/sent-options.js").SentOptions | undefined} of the stream that the handler will begin */
    this.stream = undefined;
  }

  /**
   * Count a request that the handler gets, or that the proxy decides by its answers.
   * @param {RequestState} request
   */
  meet(request) {
    this.calls += 1;
    this.met.push(new WeakRef(request));
  }

  /** @returns {RequestState[]} the requests that were met, oldest first, without those of ended tests */
  requests() {
    const found = this.met.map((each) => each.deref());
    return /** @type {RequestState[]} */ (found.filter(Boolean));
  }

  /** The name of the handler, with the place of its registration. */
  get name() {
    const name = this.answers ? nameOf(this.answers) : `the handler ${this.handler.name}`.trimEnd();
    const place = this.placeOf();
    return place ? `${name} (${written(place)})` : name;
  }
}

/** Fill `RouteEntry.handler` of a route that the proxy answers by itself. */
const neverRuns = () => undefined;

/** @param {RouteAnswers} answers */
const nameOf = ({ har, record }) => (har ? `the HAR ${har.name}` : record ? "a HAR that is recorded" : "the mock");

/**
 * Read `times`. Less than one counts as one, NaN as no limit (Playwright's rule).
 *
 * @param {number | undefined} times
 * @returns {number | undefined} the number for the proxy; `undefined` without a limit
 * @throws {UsageError} it is not a number
 */
function readTimes(times = Infinity) {
  if (typeof times !== "number") throw new UsageError(`times is a number of requests, not ${JSON.stringify(times)}`);
  const whole = Math.ceil(Math.max(times, 1));
  return Number.isSafeInteger(whole) ? whole : undefined;
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
    /** @type {Map<string, { decision: string, entry?: RouteEntry }>} all requests that the test owned, with the last handler */
    this.owned = new Map();
  }

  /**
   * Register a handler before all others.
   *
   * @param {Matcher} matcher
   * @param {Function} handler
   * @param {RouteOptions} [options]
   * @param {import("../arguments/sent-options.js").SentOptions} [stream] the options of the stream that it will begin
   * @returns {Promise<RouteEntry>} resolved when all later requests are compared with the route
   * @throws {UsageError} `times` is not a number
   */
  async route(matcher, handler, options, stream) {
    const entry = new RouteEntry(matcher, handler, options);
    entry.stream = stream;
    await this.register(entry);
    return entry;
  }

  /**
   * Register a fixed response, or a HAR, before all handlers. The proxy answers by it and counts `times`.
   *
   * @param {Matcher} matcher
   * @param {RouteAnswers} answers
   * @param {RouteOptions} [options]
   * @throws {RoutingError} the proxy cannot send this response, or has no room for it
   */
  async addAnswers(matcher, answers, options) {
    const entry = new RouteEntry(matcher, undefined, options);
    entry.answers = answers;
    await this.register(entry);
    return entry;
  }

  /** @param {RouteEntry} entry */
  async register(entry) {
    this.live.unshift(entry);
    this.known.set(entry.id, entry);
    try {
      await this.session.registration.addRoute(entry);
    } catch (error) {
      this.forget([entry]);
      throw error;
    }
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
    // Without a route of this glob, the proxy says whether it is one.
    if (matcher && entries.length === 0) await matcher.read(this.session.connection);
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
    this.forget(entries);
    if (behavior === "default") {
      for (const routed of [...this.open.values()]) {
        if (entries.includes(routed.entry)) routed.letGo();
      }
    }
    await this.session.registration.removeRoutes(behavior);
    if (behavior === "wait") await Promise.all(entries.flatMap((entry) => [...entry.running]));
  }

  /** @param {RouteEntry[]} entries */
  async remove(entries) {
    this.forget(entries);
    await Promise.all(entries.map((entry) => this.session.registration.removeRoute(entry.id)));
  }

  /** @param {RouteEntry[]} entries to remove from the handlers, without a message to the proxy */
  forget(entries) {
    this.live = this.live.filter((entry) => !entries.includes(entry));
  }

  /**
   * Test a route with a request, whose method and client the proxy has compared. An error of a predicate is added to the
   * test's errors.
   *
   * @param {RouteEntry} entry
   * @param {any} claim `request:claim`
   */
  judge({ matcher }, { request: { url }, shownUrl = url, values }) {
    try {
      return matcher.matchesUrl(url) && matcher.matchesValues(values);
    } catch (error) {
      this.session.errors.thrownByPredicate(error, matcher, shownUrl);
      return false;
    }
  }

  // Messages

  /** @param {any} claim `request:claim`: the proxy cannot judge these routes */
  claimed(claim) {
    const { requestId, routeIds } = claim;
    const { session } = this;
    const asked = routeIds.map((/** @type {string} */ id) => session.connection.route(id)).filter(Boolean);
    session.whenRead(asked, () => {
      const matches = asked
        .filter((/** @type {RouteEntry} */ entry) => this.judge(entry, claim))
        .map((/** @type {RouteEntry} */ { id }) => ({ routeId: id }));
      session.send({ type: "request:claim-result", requestId, testId: session.id, matches });
    });
  }

  /** @param {any} message `handler:run`: run a handler on a request that this test owns */
  run(message) {
    const { session } = this;
    const state = session.traffic.observe(message);
    state.pass(message.request, message.shownUrl);
    if (!this.owned.has(state.id)) this.checkContext(message);
    const { runId } = message;
    const entry = session.connection.route(message.routeId);
    if (!entry) {
      // Its test has ended meanwhile; another one's handlers may be left.
      session.send({ type: "handler:result", requestId: state.id, runId, result: { action: "fallback" } });
      return;
    }
    const routed = new RoutedRequest(session, state, entry, runId);
    this.open.set(state.id, routed);
    this.owned.set(state.id, routed);
    const ran = routed.run().catch((error) => session.errors.add(error));
    session.onAnswer?.({ state, entry, ran });
  }

  /** @param {any} message `handler:run` or `request:replied` */
  checkContext(message) {
    const { info, errors } = this.session;
    if (info.isolation === "required" && message.context === undefined) errors.withoutContext(message);
  }

  /** @returns {string[]} lines about the requests that this test owns and has not decided */
  problems() {
    return [...this.open.values()].flatMap(({ stage, entry: { name }, request }) => {
      if (stage === "undecided") return [`${request}: ${name} returned without a decision`];
      return stage === "running" ? [`${request}: ${name} has not returned`] : [];
    });
  }

  /** @param {any} message `request:replied`: what the proxy did by a fixed response or a HAR of the test */
  replied(message) {
    const state = this.session.traffic.observe(message);
    if (!this.owned.has(state.id)) this.checkContext(message);
    const entry = this.session.connection.route(message.routeId);
    entry?.meet(state);
    for (const number of message.entries ?? []) entry?.used?.add(number);
    const { action, message: why } = message;
    const decision = action === "abort" ? `aborted (${why})` : action === "fallback" ? "continued" : "fulfilled";
    this.owned.set(state.id, { decision, entry });
    if (entry) this.session.onAnswer?.({ state, entry, decision });
  }

  /** @param {any} message `route:expired`: the route has taken `times` requests */
  expired({ routeId }) {
    const entry = this.known.get(routeId);
    if (entry) this.forget([entry]);
  }
}

module.exports = { HttpRoutes, RouteEntry };
