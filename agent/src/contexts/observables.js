"use strict";

/*
 * rxjs keeps values until there is room for them (`concatMap`, `mergeMap` with a limit, `concatAll`), and works them off
 * when another one's work completes. Each is worked off in the context in which it came.
 */

/** @typedef {import('./queues.js').Change} Change */
/** @typedef {import('./test-contexts.js').Moment} Moment */

/** The key by which rxjs knows the observables of others. */
const INTEROP = /** @type {any} */ (Symbol).observable ?? "@@observable";

/** What all operators that keep values are made of. @type {Change} */
function mergeInternals(place, { now, within }) {
  const original = place.mergeInternals;
  place.mergeInternals = (
    /** @type {any} */ source,
    /** @type {any} */ subscriber,
    /** @type {Function} */ project,
    /** @type {any[]} */ ...[limit, before, isExpanding, ...rest]
  ) => {
    // `expand` works off what it has made itself.
    if (isExpanding) return original(source, subscriber, project, limit, before, isExpanding, ...rest);
    /** Of the values that came and are not worked off, in their order. @type {Moment[]} */
    const moments = [];
    const timed = {
      subscribe: (/** @type {any} */ inner) => {
        const { _next: next } = inner;
        inner._next = function (/** @type {any} */ value) {
          moments.push(now());
          return next.call(this, value);
        };
        return source.subscribe(inner);
      },
    };
    const inItsMoment = (/** @type {any[]} */ ...args) => {
      const moment = moments.shift();
      const made = within(moment, () => project(...args));
      // Another observable begins only where it is subscribed.
      if (typeof made?.subscribe !== "function") return made;
      return { [INTEROP]: () => ({ subscribe: (/** @type {any} */ to) => within(moment, () => made.subscribe(to)) }) };
    };
    return original(timed, subscriber, inItsMoment, limit, before, isExpanding, ...rest);
  };
}

/** Its actions wait for the end of the turn, all in one callback. @type {Change} */
function asapAction({ AsapAction }, { now, within }) {
  const { requestAsyncId } = AsapAction.prototype;
  AsapAction.prototype.requestAsyncId = function (/** @type {any[]} */ ...args) {
    const [, , delay = 0] = args;
    if (!(delay > 0)) {
      const moment = now();
      this.execute = (/** @type {any[]} */ ...values) => {
        delete this.execute;
        return within(moment, () => this.execute(...values));
      };
    }
    return requestAsyncId.apply(this, args);
  };
}

/**
 * What several requests have subscribed to comes to all of them from one of them: then it is nobody's.
 * @type {Change}
 */
function share(place, { now, within }) {
  const original = place.share;
  place.share = (/** @type {any[]} */ ...args) => {
    const operator = original(...args);
    return (/** @type {any} */ source) => {
      const shared = operator(source);
      const { operator: lifted } = shared;
      shared.operator = /** @this {any} */ function (/** @type {any} */ from) {
        const { context: subscribed, without } = now();
        if (subscribed || (without && "path" in without)) {
          for (const name of ["_next", "_error", "_complete"]) {
            const act = this[name];
            this[name] = /** @this {any} */ function (/** @type {any[]} */ ...values) {
              const { context } = now();
              const isOfAnother = context && context.id !== subscribed?.id && subscribed?.closedAt === undefined;
              const run = () => act.apply(this, values);
              return isOfAnother
                ? within({ context: undefined, without: { kind: "batch", name: "rxjs" } }, run)
                : run();
            };
          }
        }
        return lifted.call(this, from);
      };
      return shared;
    };
  };
}

module.exports = { asapAction, mergeInternals, share };
