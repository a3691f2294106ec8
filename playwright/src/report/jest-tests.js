"use strict";

/**
 * How the tests of Jest end. Jest tells it to the functions of `addEventHandler` of `jest-circus`, which it keeps under this
 * symbol from version 30 on.
 *
 * @typedef {object} TestOfJest
 * @property {any[]} errors each an error, or a pair of an error and the place of the test
 * @property {number} invocations how often it has begun
 *
 * @typedef {{ failed: boolean, errors: unknown[], retry: number }} JestEnd
 */

const HANDLERS = Symbol.for("EVENT_HANDLERS");

/** One run of a test. */
class JestRun {
  /** Whether the function of the test has ended; hooks are to come. */
  isOver = false;
  isDone = false;
  /** @type {((end: JestEnd) => Promise<void>)[]} */
  #waiting = [];
  #test;

  /** @param {TestOfJest} test */
  constructor(test) {
    this.#test = test;
  }

  /** @returns {boolean | undefined} whether it has failed so far; `undefined` while its function runs */
  get failed() {
    return this.isOver ? this.#test.errors.length > 0 : undefined;
  }

  /** @returns {JestEnd} */
  get #end() {
    const { errors, invocations } = this.#test;
    const found = errors.map((error) => (Array.isArray(error) ? (error[0] ?? error[1]) : error));
    return { failed: found.length > 0, errors: found, retry: invocations - 1 };
  }

  /**
   * @param {(end: JestEnd) => Promise<void>} act is called when the test and its hooks have ended, before the next test begins
   */
  async whenDone(act) {
    if (this.isDone) await act(this.#end);
    else this.#waiting.push(act);
  }

  async done() {
    this.isOver = this.isDone = true;
    for (const act of this.#waiting) await act(this.#end);
  }
}

/** @type {Map<TestOfJest, JestRun>} the runs that have begun and not ended */
const running = new Map();

/** @type {JestRun | undefined} the one that has begun last */
let last;

let isListening = false;

/** Listen to the tests of this file, if Jest runs them. */
function listen() {
  const handlers = /** @type {any} */ (globalThis)[HANDLERS];
  if (isListening || !process.env.JEST_WORKER_ID || !Array.isArray(handlers)) return;
  isListening = true;
  handlers.push(onEvent);
}

/** @param {{ name: string, test?: TestOfJest }} event @returns {Promise<void> | undefined} Jest waits for it */
function onEvent({ name, test }) {
  if (!test) return undefined;
  if (name === "test_start") {
    last = new JestRun(test);
    running.set(test, last);
  }
  const run = running.get(test);
  if (run && (name === "test_fn_success" || name === "test_fn_failure")) run.isOver = true;
  if (!run || !["test_done", "test_skip", "test_todo"].includes(name)) return undefined;
  running.delete(test);
  if (last === run) last = undefined;
  return run.done();
}

/** @returns {JestRun | undefined} that of the test whose code calls; `undefined` if Jest does not tell which one it is */
function currentJestRun() {
  listen();
  const { expect } = /** @type {any} */ (globalThis);
  const { currentTestIdentity, currentConcurrentTestName } = expect?.getState?.() ?? {};
  const test = currentTestIdentity?.();
  if (test) return running.get(test);
  // Before Jest 30.5, those of `test.concurrent` have only a name, which several may have.
  return currentConcurrentTestName?.() === undefined ? last : undefined;
}

listen();

module.exports = { currentJestRun };
