"use strict";

/* What lets some requests through at a time, or keeps what one of them has found. */
const { EventEmitter, once } = require("node:events");
const genericPool = require("generic-pool");
const { LRUCache } = require("lru-cache");
const CircuitBreaker = require("opossum");

const soon = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));

module.exports = async () => {
  const [{ default: pLimit }, { default: pThrottle }] = await Promise.all([import("p-limit"), import("p-throttle")]);
  const limit = pLimit(1);
  const throttled = pThrottle({ limit: 4, interval: 50 })((one) => one.ask());
  const pool = genericPool.createPool({ create: async () => ({}), destroy: async () => {} }, { max: 1 });
  const breaker = new CircuitBreaker((one) => one.ask(), { timeout: 20000, capacity: 20 });
  const cache = new LRUCache({ max: 100, fetchMethod: (id, _, { context }) => context.ask() });
  const emitter = new EventEmitter().setMaxListeners(0);
  /** A token that requests wait for together. */
  let refresh;
  const token = () => (refresh ??= soon().finally(() => (refresh = undefined)));
  let settings;
  let rates;

  return {
    "p-limit": (one) => limit(one.ask),
    "p-throttle": (one) => throttled(one),
    "generic-pool": (one) => pool.use(one.ask),
    opossum: (one) => breaker.fire(one),
    "lru-cache": (one) => cache.fetch(one.id, { context: one }),
    "events.once": async (one) => {
      setImmediate(() => emitter.emit("ready"));
      await once(emitter, "ready");
      return one.ask();
    },
    "a promise that requests wait for together": async (one) => {
      await token();
      return one.ask();
    },
    "what comes after a memoised promise": async (one) => {
      settings ??= soon();
      await settings;
      return one.ask();
    },
    "a memoised promise": (one) => (rates ??= one.ask()),
  };
};
