"use strict";

/** @typedef {import('./test-contexts.js').Moment} Moment */
/** @typedef {import('./queues.js').Bindings} Bindings */

/** The classes that work off what is written, and the method of their first argument that does it. */
const WORKERS = /** @type {Record<string, string>} */ ({ WritableStream: "write", TransformStream: "transform" });

/**
 * The streams of the web keep what is written, as those of Node do (`node-streams.js`): each chunk is worked off in the
 * context in which it was written. Node loads them when an application first names one.
 * @param {Bindings} bindings
 * @returns {() => void} undoes it
 */
function hookWebStreams(bindings) {
  /** The contexts of what each stream has not begun to work off, in order. @type {WeakMap<object, Moment[]>} */
  const waiting = new WeakMap();
  let isHooked = false;
  const undo = Object.entries(WORKERS).flatMap(([name, method]) => {
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
    if (!descriptor?.configurable) return [];
    const write = (/** @type {any} */ value) => Object.defineProperty(globalThis, name, { ...PLAIN, value });
    const read = () => {
      const original = descriptor.get ? descriptor.get.call(globalThis) : descriptor.value;
      if (!isHooked) hookWriters(waiting, bindings);
      isHooked = true;
      const changed = classOf(original, method, waiting, bindings);
      // Node's own accessor has put the class of Node in its place.
      write(changed);
      return changed;
    };
    Object.defineProperty(globalThis, name, { configurable: true, enumerable: false, get: read, set: write });
    return () => Object.defineProperty(globalThis, name, descriptor);
  });
  return () => {
    for (const act of undo) act();
  };
}

const PLAIN = { configurable: true, enumerable: false, writable: true };

/**
 * Note the context of each chunk that is written.
 * @param {WeakMap<object, Moment[]>} waiting by stream
 * @param {Bindings} bindings
 */
function hookWriters(waiting, { now }) {
  const { WritableStreamDefaultWriter: Writer, WritableStream: Stream } = require("node:stream/web");
  const [writers, streams] = /** @type {any[]} */ ([Writer.prototype, Stream.prototype]);
  /** @type {WeakMap<object, Moment[]>} */
  const byWriter = new WeakMap();
  const { getWriter } = streams;
  streams.getWriter = function () {
    const writer = getWriter.call(this);
    const moments = waiting.get(this);
    if (moments) byWriter.set(writer, moments);
    return writer;
  };
  const { write } = writers;
  writers.write = function (/** @type {any[]} */ ...args) {
    byWriter.get(this)?.push(now());
    return write.apply(this, args);
  };
}

/**
 * @param {any} original
 * @param {string} method
 * @param {WeakMap<object, Moment[]>} waiting
 * @param {Bindings} bindings
 * @returns {any} the class, whose streams work off each chunk in its context
 */
const classOf = (original, method, waiting, { within }) =>
  new Proxy(original, {
    construct(target, [worker, ...rest], newTarget) {
      if (typeof worker?.[method] !== "function") return Reflect.construct(target, [worker, ...rest], newTarget);
      /** @type {Moment[]} */
      const moments = [];
      const changed = new Proxy(worker, {
        get(_, key) {
          const value = worker[key];
          if (typeof value !== "function") return value;
          return (/** @type {any[]} */ ...args) => {
            const act = () => value.apply(worker, args);
            return key === method && moments.length > 0 ? within(moments.shift(), act) : act();
          };
        },
      });
      const stream = Reflect.construct(target, [changed, ...rest], newTarget);
      waiting.set(stream.writable ?? stream, moments);
      return stream;
    },
  });

module.exports = { hookWebStreams };
