"use strict";

const { setImmediate } = require("node:timers");
const { internal, internalKey } = require("../process/internals.js");

/*
 * `close()` of a dispatcher waits for its requests, and `destroy()` fails them. undici does both for the requests that it has.
 * Those that wait for a decision or get a mock are held here, so that the two methods regard them as well.
 */

/**
 * A request that a dispatcher would have without the agent.
 *
 * @typedef {object} HeldRequest
 * @property {(error: Error) => void} destroyed fails it, because its dispatcher is destroyed
 */

/** The key of a dispatcher's `Held`. A property, because it is also read by the proxies that `compose` makes of a dispatcher. */
const HELD = Symbol("trafficmock.held");
const ORIGINAL = Symbol("trafficmock.original");

/** The requests that are held for a dispatcher, in the order of their dispatches. */
class Held {
  /** @param {any} dispatcher */
  constructor(dispatcher) {
    this.dispatcher = dispatcher;
    /** @type {Set<HeldRequest>} */
    this.requests = new Set();
    /** Called when there are no more. @type {(() => void) | undefined} */
    this.emptied = undefined;
    /** Whether the dispatcher is closed, but takes those that are held. */
    this.isClosing = false;
    /** Whether the dispatcher takes the next dispatch although it is closed. */
    this.isAdmitted = false;
  }

  /** @param {HeldRequest} request */
  leave(request) {
    if (this.requests.delete(request) && this.requests.size === 0) this.emptied?.();
  }

  /** Let the `close()` that follows wait for the requests that are held. */
  expectClose() {
    before(this.dispatcher, "close", async (close) => {
      if (this.requests.size === 0) return close();
      this.close();
      // As after the last event of a connection, and so behind what the application does at the end of its request.
      await new Promise((resolve) => {
        this.emptied = () => setImmediate(resolve);
      });
      this.closed();
      // Its connections are closed already, and some classes fail to close them again.
      if (!this.dispatcher.destroyed) await close();
    });
  }

  /** Let the `destroy()` that follows fail the requests that are held, behind those that the dispatcher has. */
  expectDestroy() {
    // A `ProxyAgent` does not hand its error on.
    const failing = internal(this.dispatcher, "proxy agent") ?? this.dispatcher;
    before(failing, "destroy", async (destroy, error) => {
      const destroyed = destroy(error);
      for (const request of this.requests) request.destroyed(error);
      await destroyed;
      // Behind what follows from the errors. Without the agent, the dispatcher would have its clients to destroy meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
    });
  }

  /** Refuse all dispatches, but for those that are admitted. */
  close() {
    const key = internalKey(this.dispatcher, "closed");
    if (!key) return;
    this.isClosing = true;
    const get = () => {
      // undici asks once for each dispatch.
      const isAdmitted = this.isAdmitted;
      this.isAdmitted = false;
      return !isAdmitted;
    };
    Object.defineProperty(this.dispatcher, key, { get, set: () => {}, configurable: true });
  }

  closed() {
    const key = internalKey(this.dispatcher, "closed");
    if (!this.isClosing || !key) return;
    this.isClosing = false;
    Object.defineProperty(this.dispatcher, key, { value: true, writable: true, enumerable: true, configurable: true });
  }
}

/**
 * Put a function before the one by which a class of dispatchers closes or destroys its connections, which is called once.
 * @param {any} dispatcher
 * @param {"close" | "destroy"} name
 * @param {(original: (error?: any) => Promise<void>, error?: any) => Promise<void>} act
 */
function before(dispatcher, name, act) {
  const key = methodKey(dispatcher, name);
  if (!key || Object.hasOwn(dispatcher, key)) return;
  const value = (/** @type {any} */ error) => {
    Reflect.deleteProperty(dispatcher, key);
    return act((given) => dispatcher[key](given), error);
  };
  Object.defineProperty(dispatcher, key, { value, configurable: true });
}

/**
 * @param {any} dispatcher
 * @param {string} name
 * @returns {symbol | undefined} the key by which `baseOf` calls the method. The mocks of undici have one of the same description
 *   for themselves, which is further from the base.
 */
function methodKey(dispatcher, name) {
  let key = undefined;
  const base = baseOf(dispatcher);
  for (let at = dispatcher; at && at !== base; at = Object.getPrototypeOf(at)) {
    key = Object.getOwnPropertySymbols(at).find((one) => one.description === name) ?? key;
  }
  return key;
}

/**
 * @param {any} dispatcher
 * @returns {any} the one that is closed with it: a `MockAgent` has no state of its own, and closes its `Agent`
 */
function closedWith(dispatcher) {
  if (dispatcher.closed !== undefined || !internalKey(dispatcher, "mock agent get")) return dispatcher;
  return internal(dispatcher, "agent") ?? dispatcher;
}

/**
 * @param {any} dispatcher
 * @returns {Held | undefined} the requests that were held for it; `undefined` if there were none yet
 */
const heldOf = (dispatcher) => dispatcher[HELD];

/**
 * Note a request that is held.
 * @param {any} given the dispatcher that has it without the agent
 * @param {HeldRequest} request
 * @returns {() => void} to call when the dispatcher has the request, or it has ended
 */
function hold(given, request) {
  const dispatcher = closedWith(given);
  let held = heldOf(dispatcher);
  if (!held) {
    held = new Held(dispatcher);
    Object.defineProperty(dispatcher, HELD, { value: held });
  }
  held.requests.add(request);
  return () => held.leave(request);
}

/**
 * Give a dispatcher a request that was held for it, also if it has been closed meanwhile.
 * @param {any} dispatcher
 * @param {Function} original its `dispatch`
 * @param {any} opts
 * @param {object} handler
 * @returns {boolean | undefined} what `original` returns
 */
function admit(dispatcher, original, opts, handler) {
  const held = heldOf(closedWith(dispatcher));
  if (!held?.isClosing) return original.call(dispatcher, opts, handler);
  held.isAdmitted = true;
  try {
    return original.call(dispatcher, opts, handler);
  } finally {
    held.isAdmitted = false;
  }
}

/**
 * @param {any} dispatcher
 * @returns {boolean} whether the application has closed or destroyed it, so that it refuses requests
 */
function isClosed(dispatcher) {
  const { closed, destroyed } = closedWith(dispatcher);
  return closed === true || destroyed === true;
}

/** What the class has whose prototype is searched. An application's own dispatcher may have some of it. */
const OF_BASE = ["closed", "destroyed", "close", "destroy", "dispatch"];

/**
 * @param {any} dispatcher
 * @returns {any} the prototype of the class that has `close` and `destroy` for all dispatchers of a copy of undici;
 *   `undefined` if it has none
 */
function baseOf(dispatcher) {
  let base = dispatcher;
  while (base && !OF_BASE.every((name) => Object.hasOwn(base, name))) base = Object.getPrototypeOf(base);
  return base ?? undefined;
}

/** Called before the application's call of a method, by its name. @type {Record<string, (held: Held) => void>} */
const EXPECTED = {
  close: (held) => held.expectClose(),
  destroy: (held) => held.expectDestroy(),
};

/**
 * Let the dispatchers of a copy of undici regard the requests that are held when they are closed and destroyed.
 * @param {any} base as of `baseOf`
 */
function hookClosing(base) {
  for (const [name, expect] of Object.entries(EXPECTED)) {
    const original = base[name];
    const hooked = {
      /** @this {any} */
      [name](/** @type {any[]} */ ...args) {
        const held = heldOf(this);
        if (held?.requests.size) expect(held);
        return original.apply(this, args);
      },
    }[name];
    base[name] = Object.assign(hooked, { [ORIGINAL]: original });
  }
}

/** @param {any} base that was hooked */
function unhookClosing(base) {
  for (const name of Object.keys(EXPECTED)) base[name] = base[name][ORIGINAL] ?? base[name];
}

module.exports = { admit, baseOf, heldOf, hold, hookClosing, isClosed, unhookClosing };
