"use strict";

const { Socket } = require("node:net");
const { Duplex, Readable, Writable } = require("node:stream");

/** @typedef {import('./test-contexts.js').Moment} Moment */
/** @typedef {import('./queues.js').Bindings} Bindings */

/**
 * A stream is often a queue of jobs: it keeps what is written, and works it off when the one before is done. Each chunk is
 * worked off in the context in which it was written, and so runs the callback of `write` and `end`. The event `data` of an
 * object has the context in which it was pushed. Streams of bytes are left alone until a context is known.
 * @param {Bindings} bindings
 * @returns {() => void} undoes it
 */
function hookNodeStreams(bindings) {
  // A duplex stream has the methods of both kinds, by copies.
  const undo = [Writable.prototype, Duplex.prototype].map((owner) => hook(/** @type {any} */ (owner), bindings));
  undo.push(hookPush(/** @type {any} */ (Readable.prototype), bindings));
  return () => {
    for (const act of undo) act();
  };
}

/** What has been put in the place of the methods of streams: packages may hand out the streams of Node. */
const hooked = new WeakSet();

/** The streams of the package `readable-stream`, whose duplex ones copy the methods. @type {Record<string, import('./queues.js').Change>} */
const PACKAGED = Object.fromEntries(
  ["_stream_", "internal/streams/"].flatMap((at) => [
    [`readable-stream/lib/${at}writable`, (Writable, bindings) => void hook(Writable.prototype, bindings)],
    [`readable-stream/lib/${at}readable`, (Readable, bindings) => void hookPush(Readable.prototype, bindings)],
  ]),
);

/** @param {any} owner @param {Bindings} bindings */
function hook(owner, bindings) {
  const { write, end } = owner;
  if (hooked.has(write)) return () => {};
  /** What each stream has not begun to work off. @type {WeakMap<object, Waiting>} */
  const all = new WeakMap();
  /** @type {(stream: any, original: Function, args: any[]) => any} */
  const give = (stream, original, args) => {
    const isOfObjects = stream.writableObjectMode ?? stream._writableState?.objectMode;
    let waiting = all.get(stream);
    if (!(isOfObjects || waiting || bindings.areKnown()) || !stream.writable) return original.apply(stream, args);
    const [chunk] = args;
    const isChunk = original !== end || (chunk !== undefined && chunk !== null && typeof chunk !== "function");
    // A connection runs no code of the application for a chunk.
    if (!isChunk || stream._write === Socket.prototype._write) return original.apply(stream, args.map(bindings.bound));
    if (!waiting) {
      waiting = new Waiting(stream);
      all.set(stream, waiting);
      work(stream, waiting, bindings);
    }
    const moment = bindings.now();
    waiting.add(moment, bindings);
    try {
      return original.apply(stream, args.map(bindings.bound));
    } catch (error) {
      waiting.remove(moment);
      throw error;
    }
  };
  const changed = {
    /** @this {any} */
    write(/** @type {any[]} */ ...args) {
      return give(this, write, args);
    },
    /** @this {any} */
    end(/** @type {any[]} */ ...args) {
      return give(this, end, args);
    },
  };
  Object.assign(owner, changed);
  hooked.add(changed.write);
  return () => {
    if (owner.write === changed.write) owner.write = write;
    if (owner.end === changed.end) owner.end = end;
  };
}

/** What has been written to a stream, and not begun to be worked off. */
class Waiting {
  /** @param {any} stream */
  constructor(stream) {
    this.stream = stream;
    /** The contexts, in order. What was written before has none. @type {(Moment | undefined)[]} */
    this.moments = Array.from({ length: countOf(stream) });
    /** The id of the first context; `null` until something is written. @type {string | undefined | null} */
    this.first = null;
    this.isShared = false;
  }

  /** @param {Moment} moment of what is written now @param {Bindings} bindings */
  add(moment, bindings) {
    const { moments, stream } = this;
    // The stream may have got another `_write` since.
    if (moments.length > 0 && stream.writableLength === 0) moments.splice(0, moments.length - countOf(stream));
    moments.push(moment);
    const id = moment.context?.id;
    if (this.first === null) this.first = id;
    if (this.isShared || this.first === id) return;
    this.isShared = true;
    share(stream, bindings);
  }

  /** @param {Moment} moment of what was refused */
  remove(moment) {
    const at = this.moments.lastIndexOf(moment);
    if (at >= 0) this.moments.splice(at, 1);
  }
}

/** @param {any} stream @returns {number} how many chunks wait */
function countOf({ _writableState: state }) {
  const waiting = state?.getBuffer?.();
  // Node leaves out those that it has worked off at the end of its loop.
  return waiting ? waiting.filter((/** @type {any} */ one) => one !== null).length : 0;
}

/** The events by which a stream tells all who write to it. */
const OF_ALL = new Set(["close", "drain", "error", "finish"]);

/**
 * Emit such events without a context, once several tests have written.
 * @param {any} stream
 * @param {Bindings} bindings
 */
function share(stream, { within }) {
  const { emit } = stream;
  const value = /** @this {any} */ function (/** @type {any[]} */ ...event) {
    const act = () => emit.apply(this, event);
    return OF_ALL.has(event[0])
      ? within({ context: undefined, without: { kind: "batch", name: "a stream" } }, act)
      : act();
  };
  Object.defineProperty(stream, "emit", { value, configurable: true, writable: true });
}

/** @param {any} owner @param {import('./queues.js').Bindings} bindings */
function hookPush(owner, { now, within }) {
  const original = owner.push;
  if (hooked.has(original)) return () => {};
  /** The contexts of what was pushed. @type {WeakMap<object, Moment>} */
  const moments = new WeakMap();
  const emitting = new WeakSet();
  /** @this {any} */
  const push = function (/** @type {any[]} */ ...args) {
    const [chunk] = args;
    const isOfObjects = this.readableObjectMode ?? this._readableState?.objectMode;
    if (!isOfObjects || typeof chunk !== "object" || chunk === null) return original.apply(this, args);
    moments.set(chunk, now());
    if (!emitting.has(this)) {
      emitting.add(this);
      const { emit } = this;
      const inMoment = /** @this {any} */ function (/** @type {any[]} */ ...event) {
        const moment = event[0] === "data" ? moments.get(event[1]) : undefined;
        return moment ? within(moment, () => emit.apply(this, event)) : emit.apply(this, event);
      };
      Object.defineProperty(this, "emit", { value: inMoment, configurable: true, writable: true });
    }
    return original.apply(this, args);
  };
  owner.push = push;
  hooked.add(push);
  return () => {
    if (owner.push === push) owner.push = original;
  };
}

/**
 * Work off each chunk of a stream in its context, and several at once in the one that all have.
 * @param {any} stream
 * @param {Waiting} waiting
 * @param {Bindings} bindings
 */
function work(stream, { moments }, { within, common }) {
  const { _write: one, _writev: several } = stream;
  put(stream, "_write", function (...args) {
    const isKnown = moments.length > 0;
    const moment = moments.shift();
    return isKnown ? within(moment, () => one.apply(this, args)) : one.apply(this, args);
  });
  if (typeof several !== "function") return;
  put(stream, "_writev", function (chunks, ...rest) {
    const theirs = Array.from(chunks, () => moments.shift());
    return within(common(theirs, "a stream"), () => several.call(this, chunks, ...rest));
  });
}

/** @param {any} stream @param {string} name @param {(this: any, ...args: any[]) => any} value */
function put(stream, name, value) {
  const { enumerable = false } = Object.getOwnPropertyDescriptor(stream, name) ?? {};
  Object.defineProperty(stream, name, { value, enumerable, configurable: true, writable: true });
}

module.exports = { PACKAGED, hookNodeStreams };
