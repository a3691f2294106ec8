"use strict";

/*
 * The parts of libraries that have no class to change, where they stand in a bundle: `process/bundled-libraries.js` lets
 * them call these.
 */

/** @typedef {import('./test-contexts.js').Moment} Moment */
/** @typedef {import('./queues.js').Bindings} Bindings */

/** Who gave what is kept. @type {WeakMap<object, Moment>} */
const moments = new WeakMap();

/** Whose items the next call of a worker of `async` gets. @type {(Moment | undefined)[]} */
let taken = [];

/** The lists of `async` whose items are noted when they are taken. @type {WeakSet<object>} */
const noted = new WeakSet();

/** By the names of the places. @type {Record<string, (given: any[], bindings: Bindings) => any>} */
const BUNDLED = {
  "fastq:given": ([task, done], { bound, now }) => {
    moments.set(task, now());
    return bound(done);
  },
  "fastq:work": ([worker, task], { within }) => {
    const moment = moments.get(task);
    return /** @this {any} */ function (/** @type {any[]} */ ...args) {
      return within(moment, () => worker.apply(this, args));
    };
  },
  "async:worker": ([worker], { within }) => {
    if (typeof worker !== "function") return undefined;
    /** @this {any} */
    const run = function (/** @type {any[]} */ ...args) {
      const moment = common(taken, "async");
      taken = [];
      return within(moment, () => worker.apply(this, args));
    };
    // The library knows an asynchronous function by its kind.
    const isAsync = /** @type {any} */ (worker)[Symbol.toStringTag] === "AsyncFunction";
    return isAsync ? async (/** @type {any[]} */ ...args) => run(...args) : run;
  },
  "async:given": ([item], { bound, now }) => {
    if (!item || typeof item !== "object") return undefined;
    moments.set(item, now());
    item.callback = bound(item.callback);
    return item;
  },
  "async:taken": ([tasks]) => {
    if (!tasks?.shift || noted.has(tasks)) return undefined;
    noted.add(tasks);
    const { shift } = tasks;
    tasks.shift = function () {
      const item = shift.call(tasks);
      if (item) taken.push(moments.get(item));
      return item;
    };
    return undefined;
  },
};

/**
 * @param {(Moment | undefined)[]} moments
 * @param {string} name of the library that handles their items in one batch
 * @returns {Moment | undefined} the one whose context all have
 */
function common([first, ...others], name) {
  if (others.every((one) => one?.context?.id === first?.context?.id)) return first;
  return { context: undefined, without: { kind: "batch", name } };
}

module.exports = { BUNDLED, common };
