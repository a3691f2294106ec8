"use strict";

const { internal } = require("../process/internals.js");

/**
 * Whether a dispatcher of undici is busy, with the requests counted that wait for a decision or get a mock: it would have
 * them. A busy dispatcher says so by `false` from `dispatch`, and tells of the end of it by `drain`.
 *
 * undici counts by the requests that it has, so that this counts what they would be. Of dispatchers of other classes
 * nothing is known: they take each request.
 */

/** The requests that are held for one dispatcher, and one origin if it is an `Agent`. */
class Queue {
  /**
   * @param {any} dispatcher that the application calls
   * @param {string} origin of the requests
   */
  constructor(dispatcher, origin) {
    this.dispatcher = dispatcher;
    this.origin = origin;
    this.count = 0;
    /** Whether the application was told that the dispatcher is busy, and waits for `drain`. */
    this.isOwed = false;
  }

  enter() {
    this.count += 1;
  }

  /** @returns {boolean} whether the dispatcher takes another request after those that are held */
  takes() {
    const room = this.room();
    if (this.count < room) return true;
    // undici tells of the end of what it has said itself.
    if (room > 0) this.isOwed = true;
    return false;
  }

  /** @param {boolean} [taken] what the dispatcher said to the request, if it has it now */
  leave(taken = true) {
    this.count -= 1;
    if (!this.isOwed) return;
    const room = this.room();
    const isTold = !taken || room === 0;
    if (!isTold && this.count > 0 && this.count >= room) return;
    this.isOwed = false;
    if (!isTold) queueMicrotask(() => this.drain());
  }

  drain() {
    const { dispatcher, origin } = this;
    const told = this.inner() ?? dispatcher;
    told.emit("drain", internal(told, "url") ?? new URL(origin), [told]);
  }

  /** @returns {any} the dispatcher of an `Agent` for the origin, if there is one already; else the dispatcher itself */
  inner() {
    const { dispatcher, origin } = this;
    if (kindOf(dispatcher) !== "Agent") return dispatcher;
    const clients = internal(dispatcher, "clients");
    // undici 8 keeps those apart that do not speak HTTP/2.
    const known = clients?.get(origin) ?? clients?.get(`${origin}#http1-only`);
    return known?.dispatcher ?? known;
  }

  /** @returns {number} how many requests the dispatcher takes until it says that it is busy; 0 if it has said so */
  room() {
    const inner = this.inner();
    if (inner) return roomOf(inner);
    // As the dispatchers that an `Agent` makes: none is connected.
    return internal(this.dispatcher, "options")?.connections || Infinity;
  }
}

/** @param {any} dispatcher @returns {string} the name of its class; Node's own have an underscore before */
const kindOf = (dispatcher) => String(dispatcher?.constructor?.name).replace(/^_+/, "");

/**
 * @param {any} dispatcher
 * @returns {number} how many requests it takes until it says that it is busy; 0 if it has said so
 */
function roomOf(dispatcher) {
  const kind = kindOf(dispatcher);
  if (kind === "Client") return roomOfClient(dispatcher);
  if (kind !== "Pool") return Infinity;
  if (internal(dispatcher, "needDrain")) return 0;
  const most = internal(dispatcher, "connections");
  if (!most) return Infinity;
  const clients = /** @type {any[]} */ (internal(dispatcher, "clients") ?? []);
  const free = clients.filter((client) => !internal(client, "needDrain"));
  return free.reduce((sum, client) => sum + Math.max(1, roomOf(client)), most - clients.length);
}

/** @param {any} client */
function roomOfClient(client) {
  if (internal(client, "need drain") === 2) return 0;
  // By HTTP/1.1 it is busy until a request is written, whatever its `pipelining` is.
  return internal(client, "http context")?.version === "h2" ? Infinity : 1;
}

/** The queues by dispatcher and origin. @type {WeakMap<object, Map<string, Queue>>} */
const queues = new WeakMap();

/**
 * @param {any} dispatcher that the application calls
 * @param {any} origin of the request, as it was given
 * @returns {Queue | undefined} the requests that are held for it; `undefined` if it is never busy, or that cannot be told
 */
function queueOf(dispatcher, origin) {
  const kind = kindOf(dispatcher);
  if (kind === "Agent" ? !internal(dispatcher, "options")?.connections : kind !== "Client" && kind !== "Pool") {
    return undefined;
  }
  if (kind === "Pool" && !internal(dispatcher, "connections")) return undefined;
  const key = kind === "Agent" ? String(origin) : "";
  let known = queues.get(dispatcher);
  if (!known) queues.set(dispatcher, (known = new Map()));
  const queue = known.get(key) ?? new Queue(dispatcher, key);
  known.set(key, queue);
  return queue;
}

module.exports = { queueOf };
