"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const http = require("node:http");
const https = require("node:https");
const { performance } = require("node:perf_hooks");
const { MEMBER, contextOf, isId, withContext, withoutContext } = require("./context-headers.js");

/** Kept, since tests replace clocks. */
const now = performance.now.bind(performance);

/** Events by which a server hands a request to the application. */
const ENTRIES = new Set(["request", "checkContinue", "checkExpectation", "upgrade"]);

/** Where the API of OpenTelemetry is, and the baggage in its contexts, in every copy of it. */
const TRACING = Symbol.for("opentelemetry.js.api.1");
const BAGGAGE = Symbol.for("OpenTelemetry Baggage Key");

/** How many ids are kept before those that count no more are left out. */
const KNOWN_IDS = 1000;

/**
 * What an inbound request carries.
 *
 * @typedef {object} TestContext
 * @property {string} id
 * @property {boolean} isForwarded whether it goes on to hosts of the system under test
 * @property {number | undefined} closedAt when the inbound request was over; ms
 */

/** Whose test an outbound request belongs to: the one whose context the inbound request carries that led to it. */
class TestContexts {
  /**
   * @param {import('./settings.js').Settings} settings
   * @param {import('./hosts.js').Hosts} hosts
   */
  constructor({ isContextRead, contextMs }, hosts) {
    this.isOn = isContextRead;
    this.lastingMs = contextMs;
    this.hosts = hosts;
    /** @type {AsyncLocalStorage<TestContext | undefined>} */
    this.storage = new AsyncLocalStorage();
    /** The last of each id, for what OpenTelemetry knows by its id only. @type {Map<string, TestContext>} */
    this.known = new Map();
  }

  /**
   * Read the contexts of requests that come into the servers of this process.
   * @returns {() => void} undoes it
   */
  attend() {
    if (!this.isOn) return () => {};
    const undo = [http.Server.prototype, https.Server.prototype].map((owner) => this.attendServer(owner));
    return () => {
      for (const act of undo) act();
    };
  }

  /** @param {any} owner the prototype of servers */
  attendServer(owner) {
    const before = Object.getOwnPropertyDescriptor(owner, "emit");
    const original = owner.emit;
    const contexts = this;
    /** @this {any} */
    function emit(/** @type {string} */ event, /** @type {any[]} */ ...args) {
      if (!ENTRIES.has(event)) return original.call(this, event, ...args);
      return contexts.enter(args[0], args[1], () => original.call(this, event, ...args));
    }
    owner.emit = emit;
    return () => {
      if (owner.emit !== emit) return;
      if (before) Object.defineProperty(owner, "emit", before);
      else delete owner.emit;
    };
  }

  /**
   * @template T
   * @param {import('node:http').IncomingMessage} req
   * @param {import('node:events').EventEmitter} other its response, or the socket of an upgrade
   * @param {() => T} act
   * @returns {T}
   */
  enter(req, other, act) {
    const found = contextOf(req.headers);
    if (!found) return this.storage.getStore() ? this.storage.run(undefined, act) : act();
    /** @type {TestContext} */
    const context = { ...found, closedAt: undefined };
    this.remember(context);
    // Events of the body, and of an upgraded socket, come from the connection, which serves many requests.
    this.enclose(req, context);
    if (!(other instanceof http.ServerResponse)) this.enclose(other, context);
    other.once("close", () => {
      context.closedAt = now();
    });
    return this.storage.run(context, act);
  }

  /**
   * @param {any} emitter whose listeners are to run in the context
   * @param {TestContext} context
   */
  enclose(emitter, context) {
    const { emit } = emitter;
    const { storage } = this;
    /** @this {any} */
    emitter.emit = function (/** @type {any[]} */ ...args) {
      return storage.run(context, () => emit.apply(this, args));
    };
  }

  /** @param {TestContext} context */
  remember(context) {
    if (!tracing()) return;
    this.known.delete(context.id);
    this.known.set(context.id, context);
    if (this.known.size <= KNOWN_IDS) return;
    for (const [id, one] of this.known) if (this.isOver(one)) this.known.delete(id);
  }

  /** @param {TestContext} context */
  isOver({ closedAt }) {
    return closedAt !== undefined && now() - closedAt > this.lastingMs;
  }

  /** @returns {TestContext | undefined} that of the request which is made now */
  current() {
    if (!this.isOn) return undefined;
    const traced = tracedId();
    const found = (traced && this.known.get(traced)) || this.storage.getStore();
    return found && !this.isOver(found) ? found : undefined;
  }

  /**
   * @param {URL} url that is asked
   * @param {import('./protocol/headers.js').Pairs} pairs
   * @param {TestContext | undefined} context
   * @returns {import('./protocol/headers.js').Pairs} as they leave: the context goes on to hosts of the
   *   system under test, and to no others
   */
  outbound(url, pairs, context) {
    if (!this.isOn) return pairs;
    if (!this.hosts.isOfSystem(url)) return withoutContext(pairs);
    return context?.isForwarded ? withContext(pairs, context.id) : pairs;
  }

  /**
   * @param {import('./protocol/headers.js').Pairs} pairs
   * @returns {import('./protocol/headers.js').Pairs} as tests and the history see them
   */
  announced(pairs) {
    return this.isOn ? withoutContext(pairs) : pairs;
  }
}

/** @returns {any} the API of OpenTelemetry, where it is loaded */
const tracing = () => /** @type {any} */ (globalThis)[TRACING];

/** @returns {string | undefined} the id in the active baggage of OpenTelemetry: it knows more ways than Node does */
function tracedId() {
  const value = tracing()?.context?.active?.()?.getValue?.(BAGGAGE)?.getEntry?.(MEMBER)?.value;
  return isId(value) ? value : undefined;
}

module.exports = { TestContexts, tracing };
