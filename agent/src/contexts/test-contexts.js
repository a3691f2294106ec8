"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { createHmac, randomBytes } = require("node:crypto");
const http = require("node:http");
const https = require("node:https");
const {
  CONTEXT_MEMBER,
  contextOf,
  isAmong,
  isId,
  isMentioned,
  traceOf,
  withContext,
  withOtherId,
  withoutContext,
} = require("./context-headers.js");
const { KnownContexts } = require("./known-contexts.js");
const { Loops } = require("./loops.js");
const { OwnTests } = require("./own-tests.js");
const { onServers } = require("./http2-servers.js");
const { Wakes, wholeOf } = require("./wakes.js");
const { RequestOrigin } = require("./request-origin.js");
const { UNIX_SCHEME } = require("../protocol/facts.js");
const headers = require("../protocol/headers.js");

/** Kept, because tests of applications replace the clock. */
const { now } = Date;

/** Events with which a server passes a request to the application; `stream` is that of HTTP/2. */
const ENTRIES = new Set(["request", "checkContinue", "checkExpectation", "upgrade", "stream"]);

/** The keys of OpenTelemetry's API in the global object, and of the baggage in its contexts, in every copy of it. */
const TRACING = Symbol.for("opentelemetry.js.api.1");
const BAGGAGE = Symbol.for("OpenTelemetry Baggage Key");

const TRACED = /^traceparent:/im;

/**
 * The context that an inbound request carries.
 *
 * @typedef {object} TestContext
 * @property {string} id
 * @property {boolean} isForwarded whether the agent adds it to requests to the system under test
 * @property {number | undefined} closedAt when the inbound request was over; ms
 * @property {string} [alias] the text that other hosts, tests and the history get in the place of the id
 * @property {import("./request-origin.js").Inbound} [inbound] the request that carried it
 * @property {number} [reportedOn] the number of the link on which it was reported to the proxy
 * @property {boolean} [isRunning] of a test of this process: whether it has not ended
 * @property {boolean} [isEntered] of a test of this process: whether it is known to be current where it runs
 * @property {boolean} [isShared] whether what works on after its request works for other tests, too
 * @property {TestContext} [after] what stands for it in code that has handed over a result
 * @property {TestContext} [whole] of what stands for a context in such code: the context itself
 * @property {boolean} [isHandedOver] of a request: whether such code has sent it, while other tests are known
 * @property {boolean} [isAnswered] whether the response to its request has ended
 * @property {import("./loops.js").Sent[]} [sent] the latest requests that were sent in it
 * @property {boolean} [isLoop] whether what works on after its request sends again and again from one place
 * @property {TestContext} [partner] the first one whose work it woke, or was woken by, after both requests
 * @property {string} [mixedBy] the library that may have given it to another test's work
 * @property {boolean} [isPast] whether it does not count any more; its id is still hidden from other hosts
 */

/**
 * What code runs in: the context, and that of OpenTelemetry, which comes first; without one, why.
 *
 * @typedef {{ context: TestContext | undefined, traced?: any, without?: Without }} Moment
 *
 * @typedef {import("./request-origin.js").Inbound | import("./request-origin.js").LostContext} Without
 */

/** Gives an outbound request the context of the inbound request that caused it. */
class TestContexts {
  /**
   * @param {import('../settings.js').Settings} settings
   * @param {import('../hosts.js').Hosts} hosts
   * @param {(context: TestContext) => void} seen called with each context that comes in
   */
  constructor({ isContextRead, contextMs }, hosts, seen = () => {}) {
    this.seen = seen;
    this.isOn = isContextRead;
    this.hosts = hosts;
    /** @type {AsyncLocalStorage<TestContext | undefined>} */
    this.storage = new AsyncLocalStorage();
    /** The inbound request without a context whose code runs, or why that has none. @type {AsyncLocalStorage<Without | undefined>} */
    this.without = new AsyncLocalStorage();
    this.known = new KnownContexts(contextMs);
    /** What wakes the code of other requests. */
    this.wakes = new Wakes(this);
    /** What works on after its request, again and again. */
    this.loops = new Loops(this);
    /** Tests in this process. */
    this.tests = new OwnTests(this);
    /** The callback of a timer that runs: its context, and where Node is then. @type {{ context: TestContext, asyncId: number } | undefined} */
    this.ticking = undefined;
    /** The context that came in last. @type {TestContext | undefined} */
    this.latest = undefined;
    /**
     * Whether the proxy wants to know where requests without a context come from; `undefined` while it has yet to say so.
     * @type {boolean | undefined}
     */
    this.areOriginsWanted = undefined;
    /** Whether it wants to know it of requests with a context, too: this process mixes contexts up. */
    this.areAllWanted = false;
    this.aliasKey = randomBytes(32);
    /** A library that is not changed, and starts what one test gives it in the context of another one. @type {string | undefined} */
    this.mixer = undefined;
  }

  /**
   * From now on a context counts only while no other one is known: nothing shows which work such a library has started.
   * @param {string} name of the library
   */
  mistrust(name) {
    this.mixer ??= name;
  }

  /**
   * Read the contexts of requests that come into the servers of this process.
   * @returns {() => void} undoes it
   */
  hookServers() {
    if (!this.isOn) return () => {};
    const undo = [http.Server.prototype, https.Server.prototype].map((owner) => this.hookServer(owner));
    undo.push(onServers((owner) => undo.push(this.hookServer(owner))));
    return () => {
      this.wakes.stop();
      for (const act of undo) act();
    };
  }

  /** @param {any} owner the prototype of servers */
  hookServer(owner) {
    const before = Object.getOwnPropertyDescriptor(owner, "emit");
    const original = owner.emit;
    const contexts = this;
    /** @this {any} */
    function emit(/** @type {string} */ event, /** @type {any[]} */ ...args) {
      if (!ENTRIES.has(event)) return original.call(this, event, ...args);
      const act = () => original.call(this, event, ...args);
      const [first, second] = args;
      if (event === "stream") return first?.session && second ? contexts.enter(first, second, first, act) : act();
      // The requests of a server of HTTP/2 have begun as streams; it may serve those of HTTP/1, too.
      return first instanceof http.IncomingMessage ? contexts.enter(first, first.headers, second, act) : act();
    }
    owner.emit = emit;
    return () => {
      if (owner.emit !== emit) return;
      if (before) Object.defineProperty(owner, "emit", before);
      else delete owner.emit;
    };
  }

  /**
   * Run the handler of an inbound request in the context that it carries.
   * @template T
   * @param {import('node:events').EventEmitter} req the request, or the stream of HTTP/2
   * @param {import('node:http').IncomingHttpHeaders} incoming
   * @param {import('node:events').EventEmitter} other its response, the socket of an upgrade, or the same stream
   * @param {() => T} act
   * @returns {T}
   */
  enter(req, incoming, other, act) {
    const { method = incoming[":method"], url = incoming[":path"] } = /** @type {any} */ (req);
    const inbound = { method: method ?? "", path: url ?? "", at: now() };
    const context = this.begin(incoming);
    if (!context) {
      const enter = () => this.without.run(inbound, act);
      return this.storage.getStore() ? this.storage.run(undefined, enter) : enter();
    }
    context.inbound = inbound;
    this.latest = context;
    // The connection emits the events of the body and of an upgraded socket, and it serves many requests.
    this.enclose(req, context);
    if (other !== req && !(other instanceof http.ServerResponse)) this.enclose(other, context);
    other.once("prefinish", () => {
      context.isAnswered = true;
      this.wakes.ended(context);
    });
    other.once("close", () => this.known.close(context));
    return this.storage.run(context, act);
  }

  /**
   * @param {import('node:http').IncomingHttpHeaders} incoming headers of a request, or of a message
   * @returns {TestContext | undefined} the context that they carry
   */
  begin(incoming) {
    const found = contextOf(incoming);
    if (!found) return undefined;
    const own = this.tests.running.get(found.id);
    /** @type {TestContext} */
    const context = own ?? { ...found, closedAt: undefined, reportedOn: this.known.byId.get(found.id)?.reportedOn };
    if (!own) this.known.add(context);
    this.wakes.watch();
    // Each trace has an id of its own.
    if (context.isForwarded) this.seen(context);
    return context;
  }

  /**
   * Run the listeners of an event emitter in a context.
   * @param {any} emitter
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

  /** @returns {Moment} what this code runs in, for code that runs later because of it */
  moment() {
    const traced = tracing()?.context?.active?.();
    return { context: this.storage.getStore(), traced, without: this.without.getStore() };
  }

  /**
   * @template T
   * @param {Moment | undefined} moment what to run in; nothing: in no context
   * @param {() => T} act
   * @returns {T}
   */
  within(moment, act) {
    const context = moment?.context;
    const { ticking } = this;
    if (ticking && context) {
      // What is bound does not belong to the timer that calls it.
      this.ticking = undefined;
      try {
        return this.within(moment, act);
      } finally {
        this.ticking = ticking;
      }
    }
    const enter = () => (this.storage.getStore() === context ? act() : this.storage.run(context, act));
    const without = moment?.without;
    const run = () => (this.without.getStore() === without ? enter() : this.without.run(without, enter));
    const tracer = tracing()?.context;
    const active = tracer?.active?.();
    // Baggage of another test would come first.
    const isOfAnother = tracedId() !== undefined && tracedId() !== context?.id;
    const traced = moment?.traced ?? (isOfAnother ? active.deleteValue?.(BAGGAGE) : active);
    return traced && traced !== active ? tracer.with(traced, run) : run();
  }

  /** @returns {TestContext | undefined} the context in which code runs, whether it counts or not */
  entered() {
    if (!this.isOn) return undefined;
    const traced = tracedId();
    const here = this.storage.getStore() ?? (this.without.getStore() ? undefined : this.tests.alone());
    // What does not count any more keeps the baggage.
    const isAfter = here && (here.whole || here.isLoop) && here.id === traced;
    return (!isAfter && traced && this.known.byId.get(traced)) || here;
  }

  /** @returns {TestContext | undefined} the context of a request that is made now */
  current() {
    const entered = this.entered();
    if (!entered) return entered;
    const found = wholeOf(entered);
    if (this.mixer && this.isOneOfSeveral(found)) {
      return { ...found, mixedBy: this.mixer, isForwarded: false, isPast: true };
    }
    const isOneOfSeveral = this.isOneOfSeveral(found);
    const isHandedOver = found !== entered && isOneOfSeveral;
    const isLoop = found.isLoop && isOneOfSeveral;
    if (!(isHandedOver || isLoop || found.isShared || this.known.isOver(found))) return found;
    return { ...found, isHandedOver, isLoop, isForwarded: false, isPast: true };
  }

  /** @param {TestContext} context @returns {boolean} whether that of another test is known, too */
  isOneOfSeveral({ id }) {
    return [this.known.byId, this.tests.running].some((ids) => ids.size > (ids.has(id) ? 1 : 0));
  }

  /** @param {{ wanted?: boolean, ofAll?: boolean }} message which requests the proxy wants to know of, where they come from */
  wantOrigins({ wanted, ofAll }) {
    this.areOriginsWanted = wanted === true;
    this.areAllWanted = ofAll === true;
  }

  /**
   * @param {TestContext | undefined} context of a request that is made now
   * @param {Function} callee is left out of its callers
   * @returns {RequestOrigin | undefined} where it is sent from, if it has no context that counts, and the proxy may want to know
   */
  originOf(context, callee) {
    if (!this.isOn || this.areOriginsWanted === false) return undefined;
    if (context && !context.isPast && !this.areAllWanted) return undefined;
    const { inbound: past, isShared, isHandedOver, isLoop, mixedBy } = context?.isPast ? context : {};
    const found = {
      past,
      isShared,
      isHandedOver,
      isLoop,
      mixedBy,
      without: this.without.getStore(),
      carried: this.latest?.inbound,
    };
    return new RequestOrigin(found, callee);
  }

  /**
   * @param {URL} url of the request
   * @param {headers.Pairs} pairs
   * @param {TestContext | undefined} context
   * @returns {headers.Pairs} the headers to send: with the context to hosts of the system under test, without it to others
   */
  outbound(url, pairs, context) {
    // What goes over a UNIX socket stays as it is.
    if (!this.isOn || url.protocol === UNIX_SCHEME) return pairs;
    if (!this.hosts.isOfSystem(url)) return this.concealed(pairs, context);
    // A handler may have returned headers with the alias that it was shown.
    const own = context?.alias ? withOtherId(pairs, context.alias, context.id) : pairs;
    return context?.isForwarded ? withContext(own, context.id) : own;
  }

  /**
   * @param {headers.Pairs} pairs
   * @param {TestContext | undefined} context
   * @returns {headers.Pairs} the headers that tests and the history get
   */
  announced(pairs, context) {
    return this.isOn ? this.concealed(pairs, context) : pairs;
  }

  /**
   * Remove a context from headers. Its id may also be that of a trace, which tracers write into several headers.
   * @param {headers.Pairs} pairs
   * @param {TestContext | undefined} context
   * @returns {headers.Pairs} without the context; its id is replaced by the alias where it is that of a trace
   */
  concealed(pairs, context) {
    let left = withoutContext(pairs);
    const trace = traceOf(headers.get(pairs, "traceparent"));
    for (const one of new Set([context, trace ? this.known.byId.get(trace) : undefined])) {
      if (one && isAmong(left, one.id)) left = withOtherId(left, one.id, this.aliasOf(one));
    }
    return left;
  }

  /**
   * @param {TestContext} context
   * @returns {string} the alias of its id, always the same one; the id cannot be derived from it
   */
  aliasOf(context) {
    context.alias ??= createHmac("sha256", this.aliasKey).update(context.id).digest("hex").slice(0, 32);
    return context.alias;
  }

  /**
   * @param {string} head of a request, as text
   * @param {TestContext | undefined} context
   * @returns {boolean} whether `outbound` may change its headers
   */
  isConcerned(head, context) {
    return context !== undefined || isMentioned(head) || (this.known.byId.size > 0 && TRACED.test(head));
  }
}

/** @returns {any} the API of OpenTelemetry, if it is loaded */
const tracing = () => /** @type {any} */ (globalThis)[TRACING];

/** @returns {string | undefined} the id in OpenTelemetry's active baggage, which also follows calls that Node does not */
function tracedId() {
  const value = tracing()?.context?.active?.()?.getValue?.(BAGGAGE)?.getEntry?.(CONTEXT_MEMBER)?.value;
  return isId(value) ? value : undefined;
}

module.exports = { TestContexts, tracing };
