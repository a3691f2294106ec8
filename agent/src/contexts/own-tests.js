"use strict";

/** @typedef {import('./test-contexts.js').TestContext} TestContext */
/** @typedef {import('./test-contexts.js').TestContexts} TestContexts */

/**
 * The tests that run in this process, beside the application. Node carries the context of each to what it starts, so that
 * tests at the same time are told apart.
 */
class OwnTests {
  /** @param {TestContexts} contexts */
  constructor(contexts) {
    this.contexts = contexts;
    /** @type {Map<string, TestContext>} */
    this.running = new Map();
  }

  /**
   * @param {string} id of the context
   * @returns {OwnTest} the test, which has begun but is not current yet
   */
  begin(id) {
    /** @type {TestContext} */
    const context = { id, isForwarded: true, closedAt: undefined, isRunning: true };
    this.running.set(id, context);
    this.contexts.known.add(context);
    return new OwnTest(this, context);
  }

  /**
   * The test that counts for a request without a context. Runners call the hook that began a test and the test itself in
   * contexts of their own, so a test that has called nothing of its mocks yet is not current in it.
   * @returns {TestContext | undefined} the only test that runs, unless it is known to be current where it runs
   */
  alone() {
    const [only, another] = this.running.values();
    return another || only?.isEntered ? undefined : only;
  }
}

/** A test that runs in this process. */
class OwnTest {
  /**
   * @param {OwnTests} tests
   * @param {TestContext} context
   */
  constructor(tests, context) {
    this.tests = tests;
    this.context = context;
    /** The test around this one. @type {TestContext | undefined} */
    this.outer = undefined;
  }

  get #storage() {
    return this.tests.contexts.storage;
  }

  /** Make the test current in the function that calls this, in the functions that wait for it, and in what they start. */
  enter() {
    const outer = this.#storage.getStore();
    this.outer = outer?.isRunning ? outer : undefined;
    this.#storage.enterWith(this.context);
  }

  /** Make the test current if none is that runs: the code that calls its mocks is that of the test. */
  claim() {
    const current = this.#storage.getStore();
    if (!this.context.isRunning || (current && current.isRunning !== false)) return;
    this.context.isEntered = true;
    this.#storage.enterWith(this.context);
  }

  /**
   * Run a function in which the test is current, and in what it starts.
   * @template T
   * @param {() => T} act
   * @returns {T}
   */
  run(act) {
    this.context.isEntered = true;
    return this.#storage.run(this.context, act);
  }

  /** Make the test around this one current again, if this one is in the function that calls this. */
  leave() {
    if (this.#storage.getStore() === this.context) this.#storage.enterWith(this.outer);
  }

  /** End the test: what it leaves behind is its own for a while, and then nobody's. */
  end() {
    const { context, tests } = this;
    if (!context.isRunning) return;
    context.isRunning = false;
    tests.running.delete(context.id);
    tests.contexts.known.close(context);
  }
}

module.exports = { OwnTest, OwnTests };
