"use strict";

const { AsyncResource } = require("node:async_hooks");
const { test } = require("@playwright/test");
const { TrafficMock } = require("../objects/traffic-mock.js");
const { callSite, calledFrom } = require("../session/call-site.js");
const { lateWait } = require("../session/late-wait.js");

/**
 * Makes each call of a route or wait a step of the test, with its place in the code. The HTML report and
 * the trace show it beside the page's actions.
 */
class SteppedTrafficMock extends TrafficMock {
  #session;

  /** @param {import("../session/session.js").Session} session */
  constructor(session) {
    super(session);
    this.#session = session;
  }

  /** @type {TrafficMock["route"]} */
  route(url, ...rest) {
    return step(this.#session, "route", url, () => super.route(url, ...rest));
  }

  /** @type {TrafficMock["routeWebSocket"]} */
  routeWebSocket(url, ...rest) {
    return step(this.#session, "routeWebSocket", url, () => super.routeWebSocket(url, ...rest));
  }

  /** @type {TrafficMock["routeFromHAR"]} */
  routeFromHAR(file, ...rest) {
    return step(this.#session, "routeFromHAR", file, () => super.routeFromHAR(file, ...rest));
  }

  /** @type {TrafficMock["mock"]} */
  mock(url, ...rest) {
    return step(this.#session, "mock", url, () => super.mock(url, ...rest));
  }

  /** @type {TrafficMock["strict"]} */
  strict(...rest) {
    return step(this.#session, "strict", undefined, () => super.strict(...rest));
  }

  /** @type {TrafficMock["unroute"]} */
  unroute(url, ...rest) {
    return step(this.#session, "unroute", url, () => super.unroute(url, ...rest));
  }

  /** @type {TrafficMock["unrouteAll"]} */
  unrouteAll(...rest) {
    return step(this.#session, "unrouteAll", undefined, () => super.unrouteAll(...rest));
  }

  /** @type {TrafficMock["waitForRequest"]} */
  waitForRequest(wanted, ...rest) {
    return waitStep(this.#session, "waitForRequest", wanted, () => super.waitForRequest(wanted, ...rest));
  }

  /** @type {TrafficMock["waitForResponse"]} */
  waitForResponse(wanted, ...rest) {
    return waitStep(this.#session, "waitForResponse", wanted, () => super.waitForResponse(wanted, ...rest));
  }
}

/**
 * @template T
 * @param {import("../session/session.js").Session} session
 * @param {string} call
 * @param {unknown} argument
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
function step(session, call, argument, run) {
  // Not in the step: a test that is current there is not so in its own code.
  session.noteCall();
  const location = callSite()();
  return stepAt(location, call, argument, () => calledFrom(location, run));
}

/**
 * Make a step of a wait, which begins before the step: Playwright may start a step late, when the request has come.
 *
 * @template T
 * @param {import("../session/session.js").Session} session
 * @param {string} call
 * @param {unknown} argument
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
function waitStep(session, call, argument, run) {
  session.noteCall();
  const location = callSite()();
  const wait = calledFrom(location, run);
  // The step reports the error.
  wait.catch(() => {});
  return lateWait(
    session,
    stepAt(location, call, argument, () => wait),
  );
}

/**
 * @template T
 * @param {ReturnType<ReturnType<typeof callSite>>} location
 * @param {string} call
 * @param {unknown} argument
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
function stepAt(location, call, argument, run) {
  const title = `trafficmock.${call}${argument === undefined ? "" : ` ${named(argument)}`}`;
  return test.step(title, run, { location });
}

/** The context of this module, which belongs to no step: a request comes between the steps of the test. */
const outside = new AsyncResource("trafficmock");

/** Makes a step of each request that a test answers, and a failed one of each that strict mode refused. */
class AnswerSteps {
  /** @type {Set<Promise<void>>} the steps of answers without a handler that have not ended */
  #brief = new Set();

  /** @param {import("../session/session.js").Decided} decided */
  add(decided) {
    const step = decidedStep(decided);
    if (!decided.ran) this.#keep(step);
  }

  /** @param {{ message: string, detail: { method: string, url: string } }} refusal the `proxy:error` */
  addRefused({ message, detail }) {
    const title = `trafficmock: ${detail.method} ${detail.url} (refused by strict mode)`;
    this.#keep(requestStep(title, () => Promise.reject(new Error(message))));
  }

  /** @param {Promise<void>} step */
  #keep(step) {
    this.#brief.add(step);
    void step.then(() => this.#brief.delete(step));
  }

  /** Wait for the steps of answers without a handler: what has no end when the test ends may be missing in its reports. */
  async end() {
    await Promise.all(this.#brief);
  }
}

/**
 * Make a step of a request that the test answers. It lasts as long as the handler runs.
 *
 * @param {import("../session/session.js").Decided} decided
 * @returns {Promise<void>}
 */
function decidedStep({ state, entry, decision, ran }) {
  const title = `trafficmock: ${state}${decision ? ` (${decision})` : ""}`;
  return requestStep(title, async () => void (await ran), entry.placeOf());
}

/**
 * @param {string} title
 * @param {() => Promise<void>} run
 * @param {ReturnType<ReturnType<typeof callSite>>} [location]
 * @returns {Promise<void>}
 */
function requestStep(title, run, location) {
  return outside.runInAsyncScope(() =>
    // The error of a handler, or of a refusal, fails the test at its end. After the test there are no steps.
    Promise.resolve()
      .then(() => test.step(title, run, { location }))
      .catch(() => {}),
  );
}

/**
 * @param {any} argument
 * @returns {string}
 */
function named(argument) {
  if (typeof argument === "string") return argument;
  if (argument instanceof RegExp) return String(argument);
  if (typeof argument === "function") return argument.name || "a predicate";
  const { url, method } = argument;
  return [method, url && named(url)].filter(Boolean).join(" ") || "a URLPattern";
}

module.exports = { AnswerSteps, SteppedTrafficMock };
