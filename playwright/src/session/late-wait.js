"use strict";

const { TimeoutError } = require("../errors.js");

/**
 * The promise of a wait that its test may await later than it fails: a wait is begun before the request that it is for.
 *
 * @template T
 * @extends {Promise<T>}
 */
class LateWait extends Promise {
  /** What is made of it is a plain promise. */
  static get [Symbol.species]() {
    return Promise;
  }

  isAwaited = false;

  /** @type {Promise<T>["then"]} */
  then(onFulfilled, onRejected) {
    this.isAwaited = true;
    return super.then(onFulfilled, onRejected);
  }
}

/**
 * Give a test the promise of a wait. If it fails before somebody awaits it, Node says nothing of it; if nobody has awaited it
 * at the end of the test, the error is one of the test.
 *
 * @template T
 * @param {import("./session.js").Session} session
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
function lateWait(session, promise) {
  /** @type {LateWait<T>} */
  const wait = new LateWait((resolve, reject) => {
    promise.then(resolve, (error) => {
      if (error instanceof TimeoutError) {
        Promise.prototype.then.call(wait, undefined, () => {});
        session.finishing.push(() => {
          if (!wait.isAwaited) session.errors.add(error);
        });
      }
      reject(error);
    });
  });
  return wait;
}

module.exports = { lateWait };
