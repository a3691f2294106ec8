"use strict";

/*
 * Libraries that keep jobs, callbacks or keys of many requests and start them later, from the request that makes room.
 * Each is changed where it takes them: what it then starts has the context of the request that gave it, or none.
 */
const { changeFiles } = require("../process/modules.js");
const { bindArguments } = require("./bound-arguments.js");
const { BUNDLED, common } = require("./bundled-queues.js");
const { PACKAGED, hookNodeStreams } = require("./node-streams.js");
const { asapAction, mergeInternals, share } = require("./observables.js");
const { hookWebStreams } = require("./web-streams.js");
const promises = require("./promise-libraries.js");

/**
 * @typedef {object} Bindings
 * @property {() => boolean} areKnown whether this process knows contexts
 * @property {<F>(value: F) => F} bound a function that runs in the context of this moment; other values as they are
 * @property {() => Moment} now
 * @property {(moments: (Moment | undefined)[], name: string) => Moment | undefined} common the one whose context all have
 * @property {(moment: Moment | undefined, act: () => any) => any} within runs a function in the context of a moment, or in none
 */

/** @typedef {import('./test-contexts.js').Moment} Moment */

/** @typedef {(exports: any, bindings: Bindings) => any} Change what a module exports in the place of `exports`, or nothing */

/** By the end of the path of a file. @type {Record<string, Change>} */
const CHANGES = {
  "async/dist/async": (exports, bindings) => {
    for (const place of [exports, exports.default]) {
      for (const name of ["queue", "priorityQueue", "cargo", "cargoQueue"]) {
        if (place?.[name]) place[name] = asyncQueue(place[name], bindings);
      }
      if (place?.memoize) place.memoize = memoize(place.memoize, bindings);
    }
  },
  "async/queue": asyncQueue,
  "async/priorityQueue": asyncQueue,
  "async/cargo": asyncQueue,
  "async/cargoQueue": asyncQueue,
  "fastq/queue": (exports, bindings) =>
    Object.assign(fastq(exports, bindings), exports, exports.promise && { promise: fastq(exports.promise, bindings) }),
  "bottleneck/lib/Bottleneck": bottleneck,
  "bottleneck/light": bottleneck,
  "bottleneck/es5": bottleneck,
  "dataloader/index": dataLoader,
  "pg-pool/index": (Pool, bindings) => bindArguments(Pool.prototype, ["connect", "query"], bindings),
  "pg/lib/client": (Client, bindings) => {
    bindArguments(Client.prototype, ["connect", "query"], bindings);
    hookMessages(Client.prototype, "_handleNotification", "pg", bindings);
  },
  "pg/lib/connection": pgConnection,
  // p-queue is an ES module, which no hook sees on every Node. Its class stands on this one.
  "eventemitter3/index": emitter3,
  "p-queue/dist/index": ({ default: Queue }, bindings) => bindArguments(Queue.prototype, ["add"], bindings),
  "cockatiel/dist/BulkheadPolicy": ({ BulkheadPolicy: Policy }, bindings) =>
    bindArguments(Policy.prototype, ["execute"], bindings),
  "moleculer/src/middlewares/bulkhead": moleculer,
  "bluebird/js/release/bluebird": promises.bluebird,
  "q/q": promises.q,
  "rsvp/dist/rsvp": promises.rsvp,
  "es6-promise/dist/es6-promise": promises.rsvp,
  "when/lib/makePromise": promises.when,
  "workerpool/src/Pool": promises.workerpool,
  "rxjs/dist/cjs/internal/operators/mergeInternals": mergeInternals,
  "rxjs/dist/cjs/internal/operators/share": share,
  "rxjs/dist/cjs/internal/scheduler/AsapAction": asapAction,
  "nats/lib/src/connect": (exports, bindings) => hookMessages(exports, "connect", "nats", bindings),
  "@nats-io/transport-node/lib/connect": (exports, bindings) => hookMessages(exports, "connect", "nats", bindings),
  "graphile-worker/dist/runner": (exports, bindings) => hookMessages(exports, "run", "graphile-worker", bindings),
  // Its frames wait while the one before is compressed.
  "ws/lib/sender": ({ prototype }, bindings) => bindArguments(prototype, ["close", "ping", "pong", "send"], bindings),
  "promise-queue/lib/index": ({ prototype }, bindings) => bindArguments(prototype, ["add"], bindings),
  "promise-throttle/lib/main": ({ prototype }, bindings) => bindArguments(prototype, ["add"], bindings),
  "semaphore/lib/semaphore": semaphore,
  "async/memoize": memoize,
  // Messages come from whoever published them, not from the request that subscribed first.
  "@redis/client/dist/lib/client/pub-sub": ({ PubSub }, bindings) =>
    hookMessages(PubSub.prototype, "handleMessageReply", "redis", bindings),
  "ioredis/built/DataHandler": (exports, bindings) =>
    hookMessages(exports.default.prototype, "handleSubscriberReply", "ioredis", bindings),
};

/**
 * @param {import('./test-contexts.js').TestContexts} contexts
 * @returns {() => void} stops changing modules; those that are changed carry no contexts any more
 */
function hookQueues(contexts) {
  if (!contexts.isOn) return () => {};
  const areKnown = () => contexts.known.byId.size > 0;
  const now = () => contexts.moment();
  const within = (/** @type {Moment | undefined} */ moment, /** @type {() => any} */ act) =>
    contexts.within(moment, act);
  /** @type {(value: any) => any} */
  const bound = (value) => {
    if (typeof value !== "function") return value;
    const moment = now();
    return /** @this {any} */ function (/** @type {any[]} */ ...args) {
      return within(moment, () => value.apply(this, args));
    };
  };
  /** @type {Record<string, (exports: any) => any>} */
  const changes = {};
  for (const [name, change] of Object.entries({ ...CHANGES, ...PACKAGED, ...BUNDLED })) {
    changes[name] = (exports) => change(exports, { areKnown, bound, common, now, within });
  }
  const undo = [
    hookNodeStreams({ areKnown, bound, common, now, within }),
    hookWebStreams({ areKnown, bound, common, now, within }),
    changeFiles(changes, {
      text: "no request of this process has a context while several tests are known: its jobs would take another's",
      follow: (name) => contexts.mistrust(name),
    }),
  ];
  return () => {
    for (const act of undo) act();
  };
}

/**
 * Handle the messages of subscriptions without a context.
 * @param {any} owner
 * @param {string} method that gets each message
 * @param {string} name of the library
 * @param {Bindings} bindings
 */
function hookMessages(owner, method, name, { within }) {
  const original = owner[method];
  owner[method] = /** @this {any} */ function (/** @type {any[]} */ ...args) {
    return within({ context: undefined, without: { kind: "message", name } }, () => original.apply(this, args));
  };
}

/**
 * Emit what comes over a connection without the context of the request that has opened it: other requests use it, too.
 * @type {Change}
 */
function pgConnection(Connection, { within }) {
  const { attachListeners: attach } = Connection.prototype;
  if (!attach) return;
  const moment = { context: undefined, without: { kind: "connection", name: "pg" } };
  Connection.prototype.attachListeners = /** @this {any} */ function (/** @type {any} */ stream) {
    const { on } = stream;
    const inNone =
      (/** @type {Function} */ listener) =>
      (/** @type {any[]} */ ...args) =>
        within(moment, () => listener.apply(stream, args));
    stream.on = (/** @type {string} */ event, /** @type {Function} */ listener) =>
      on.call(stream, event, event === "data" ? inNone(listener) : listener);
    try {
      return attach.call(this, stream);
    } finally {
      stream.on = on;
    }
  };
}

/** @type {Change} */
function bottleneck(Bottleneck, bindings) {
  bindArguments(Bottleneck.prototype, ["schedule", "submit"], bindings);
  const batcher = Bottleneck.Batcher?.prototype;
  if (!batcher?._flush) return;
  const { add, _flush: flush } = batcher;
  /** Who added what a batch has so far. @type {WeakMap<object, Moment[]>} */
  const givers = new WeakMap();
  batcher.add = /** @this {any} */ function (/** @type {any[]} */ ...args) {
    const { _arr: batch } = this;
    givers.set(batch, [...(givers.get(batch) ?? []), bindings.now()]);
    return add.apply(this, args);
  };
  batcher._flush = /** @this {any} */ function () {
    return bindings.within(common(givers.get(this._arr) ?? [], "bottleneck"), () => flush.call(this));
  };
}

/** @type {Change} */
function semaphore(make, bindings) {
  return (/** @type {any[]} */ ...args) => {
    const made = make(...args);
    bindArguments(made, ["take"], bindings);
    return made;
  };
}

/** What several callers wait for calls the callbacks of all of them. @type {Change} */
function memoize(make, bindings) {
  return (/** @type {any[]} */ ...args) => {
    const memoized = make(...args);
    const bound = (/** @type {any[]} */ ...given) => memoized(...given.map(bindings.bound));
    return Object.assign(bound, memoized);
  };
}

/** The bulkhead of moleculer's actions and events, each of which has an object of its own. @type {Change} */
function moleculer(original, { now, within }) {
  return (/** @type {any} */ broker) => {
    const middleware = original(broker);
    for (const name of ["localAction", "localEvent"]) {
      const wrap = middleware[name];
      if (!wrap) continue;
      middleware[name] = /** @this {any} */ function (/** @type {Function} */ handler, /** @type {any[]} */ ...rest) {
        /** @type {WeakMap<object, Moment>} */
        const moments = new WeakMap();
        const run = (/** @type {any} */ context) => within(moments.get(context), () => handler(context));
        const limited = wrap.call(this, run, ...rest);
        if (limited === run) return handler;
        return (/** @type {any} */ context) => {
          moments.set(context, now());
          return limited(context);
        };
      };
    }
    return middleware;
  };
}

/**
 * @param {any} original makes a queue of a worker
 * @param {Bindings} bindings
 */
function asyncQueue(original, { bound, now, within }) {
  return (/** @type {Function} */ worker, /** @type {any[]} */ ...rest) => {
    /** @type {WeakMap<object, Moment>} */
    const owners = new WeakMap();
    /** Whose items the next call of the worker gets. @type {(Moment | undefined)[]} */
    let taken = [];
    /** @this {any} */
    const run = function (/** @type {any[]} */ ...args) {
      const moment = common(taken, "async");
      taken = [];
      return within(moment, () => worker.apply(this, args));
    };
    // The library knows an asynchronous function by its kind.
    const isAsync = /** @type {any} */ (worker)?.[Symbol.toStringTag] === "AsyncFunction";
    const asynchronous = async (/** @type {any[]} */ ...args) => run(...args);
    const queue = original(typeof worker === "function" ? (isAsync ? asynchronous : run) : worker, ...rest);
    const { _createTaskItem: create, _tasks: tasks } = queue;
    // A version that works otherwise: its jobs have no context.
    if (!create || !tasks?.shift) return queue;
    const { shift } = tasks;
    queue._createTaskItem = (/** @type {any} */ data, /** @type {any} */ callback) => {
      const item = create.call(queue, data, bound(callback));
      owners.set(item, now());
      return item;
    };
    tasks.shift = function () {
      const item = shift.call(tasks);
      if (item) taken.push(owners.get(item));
      return item;
    };
    return queue;
  };
}

/** What stands in a queue of `fastq` for a job, with the context of whoever pushed it. */
class Job {
  /** @param {any} value @param {Moment} moment */
  constructor(value, moment) {
    this.value = value;
    this.moment = moment;
  }
}

/**
 * @param {any} original makes a queue of a worker
 * @param {Bindings} bindings
 */
function fastq(original, { bound, now, within }) {
  return (/** @type {any[]} */ ...args) => {
    const at = args.findIndex((one) => typeof one === "function");
    const worker = args[at];
    /** @this {any} */
    const run = function (/** @type {Job} */ job, /** @type {any[]} */ ...rest) {
      return within(job.moment, () => worker.call(this, job.value, ...rest));
    };
    const queue = original(...args.map((one, place) => (place === at ? run : one)));
    const { push, unshift, getQueue, error } = queue;
    queue.push = (/** @type {any} */ value, /** @type {any} */ done) => push(new Job(value, now()), bound(done));
    queue.unshift = (/** @type {any} */ value, /** @type {any} */ done) => unshift(new Job(value, now()), bound(done));
    queue.getQueue = () => getQueue().map((/** @type {Job} */ job) => job.value);
    queue.error = (/** @type {Function | null} */ handler) =>
      error(handler && ((/** @type {any} */ reason, /** @type {Job} */ job) => handler(reason, job?.value)));
    return queue;
  };
}

/** A batch has the context that all its keys were asked for in, or none. @type {Change} */
function dataLoader(Loader, { now, within }) {
  /** Who asked for the keys of a batch. @type {WeakMap<object, Moment[]>} */
  const owners = new WeakMap();
  /** Functions that run batches in their contexts. */
  const changed = new WeakSet();
  const { load } = Loader.prototype;
  const inBatch = (/** @type {Function} */ original) => {
    /** @this {any} */
    const run = function (/** @type {any[]} */ keys, /** @type {any[]} */ ...rest) {
      return within(common(owners.get(keys) ?? [], "dataloader"), () => original.call(this, keys, ...rest));
    };
    changed.add(run);
    return run;
  };
  Loader.prototype.load = function (/** @type {any[]} */ ...args) {
    if (!changed.has(this._batchLoadFn)) this._batchLoadFn = inBatch(this._batchLoadFn);
    const loaded = load.apply(this, args);
    const keys = this._batch?.keys;
    if (keys && !owners.has(keys)) owners.set(keys, []);
    owners.get(keys)?.push(now());
    return loaded;
  };
}

/**
 * Find the class of `p-queue` by the first event of one of its queues, at the end of the first `add`.
 * @type {Change}
 */
function emitter3(Emitter, bindings) {
  const { emit } = Emitter.prototype;
  const seen = new WeakSet();
  Emitter.prototype.emit = function (/** @type {any[]} */ ...args) {
    if (args[0] === "add" && this.onIdle && this.sizeBy) {
      const queue = Object.getPrototypeOf(this);
      const owner = Object.hasOwn(queue, "add") ? queue : Object.getPrototypeOf(queue);
      if (Object.hasOwn(owner, "add") && !seen.has(owner)) {
        seen.add(owner);
        bindArguments(owner, ["add"], bindings);
      }
    }
    return emit.apply(this, args);
  };
}

module.exports = { hookQueues };
