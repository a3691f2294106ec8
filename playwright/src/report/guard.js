"use strict";

/**
 * Keeps an error in the hooks of trafficmock itself from ending the run of the tests, or from keeping a test from ending:
 * `trafficmock/testing/reporting/guard.py` is the same for Python. Each hook that a test runner calls does what it does in
 * `guarded`.
 */

/**
 * @template T
 * @param {string} what it does, as the end of "trafficmock failed to"
 * @param {() => T | Promise<T>} act
 * @param {(fault: Error) => void} tell is called with the error, if there is one
 * @returns {Promise<T | undefined>} what `act` returns
 */
async function guarded(what, act, tell) {
  try {
    return await act();
  } catch (error) {
    tell(faultOf(what, error));
    return undefined;
  }
}

/**
 * The same for a hook that cannot wait.
 *
 * @template T
 * @param {string} what
 * @param {() => T} act
 * @param {(fault: Error) => void} tell
 * @returns {T | undefined}
 */
function guardedNow(what, act, tell) {
  try {
    return act();
  } catch (error) {
    tell(faultOf(what, error));
    return undefined;
  }
}

/** @param {string} what @param {unknown} error */
function faultOf(what, error) {
  const { message = String(error) } = /** @type {Error} */ (error ?? {});
  return new Error(`trafficmock failed to ${what}. This is a fault of trafficmock: ${message}`, { cause: error });
}

module.exports = { guarded, guardedNow };
