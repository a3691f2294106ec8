"use strict";

const { clearInterval, setInterval } = require("node:timers");
const { ConnectionError } = require("../errors.js");

/** The number of checks within the time limit of an answer. */
const LOOKS = 10;

/** The key of the message that each answer belongs to, by the answer's type. */
const ANSWERS = /** @type {Record<string, (message: any) => string>} */ ({
  pong: ({ at }) => `ping ${at}`,
  "test:registered": ({ testId }) => `test:register ${testId}`,
  "test:unregistered": ({ testId }) => `test:unregister ${testId}`,
  "test:stricted": ({ testId }) => `test:strict ${testId}`,
  "route:registered": ({ routeId }) => `route:register ${routeId}`,
  "handler:read": ({ runId }) => `handler:result ${runId}`,
  "route:unregistered": ({ routeId, testId }) => `route:unregister ${routeId ?? testId}`,
  "history:result": ({ queryId }) => `query ${queryId}`,
  "glob:result": ({ queryId }) => `query ${queryId}`,
  "redact:result": ({ queryId }) => `query ${queryId}`,
  "diagnosis:result": ({ queryId }) => `query ${queryId}`,
  "recording:piece": ({ queryId }) => `query ${queryId}`,
  "report:result": ({ queryId }) => `query ${queryId}`,
  "run:stricted": ({ queryId }) => `query ${queryId}`,
  "run:unmatched": ({ queryId }) => `query ${queryId}`,
  "wait:met": ({ waitId }) => `wait:register ${waitId}`,
  "wait:overdue": ({ waitId }) => `wait:register ${waitId}`,
});

/**
 * The messages that wait for their answer.
 *
 * Their time limit is counted in ticks of a timer, which does not tick while this thread is stopped at a breakpoint. So
 * an answer that came meanwhile is read before its question fails.
 */
class Questions {
  /** @type {Map<string, { resolve(answer: any): void, reject(error: Error): void, last: number, limit: number }>} */
  #asked = new Map();
  #look = 0;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #answerMs;

  /** @param {number} answerMs the time limit of an answer */
  constructor(answerMs) {
    this.#answerMs = answerMs;
  }

  /**
   * Wait for an answer.
   *
   * @param {string} key of the answer: the type and the id
   * @param {number} [beyond] the milliseconds that the proxy may take in addition to the time limit
   * @returns {Promise<any>} the answer; rejected with a `ConnectionError` after both
   */
  answerTo(key, beyond = 0) {
    const limit = this.#answerMs + beyond;
    const last = this.#look + Math.ceil((LOOKS * limit) / this.#answerMs);
    this.#timer ??= setInterval(() => this.#expire(), this.#answerMs / LOOKS).unref();
    return new Promise((resolve, reject) => {
      this.#asked.set(key, { resolve, reject, last, limit });
    });
  }

  /**
   * @param {any} message of the proxy
   * @returns {boolean} whether it is an answer
   */
  answered(message) {
    const keyOf = ANSWERS[message.type];
    if (!keyOf) return false;
    this.#take(keyOf(message))?.resolve(message);
    return true;
  }

  /**
   * @param {string} key
   * @param {Error} error
   * @returns {boolean} whether the question was open
   */
  reject(key, error) {
    const question = this.#take(key);
    question?.reject(error);
    return question !== undefined;
  }

  /** @param {Error} error why no answer will come */
  rejectAll(error) {
    for (const key of [...this.#asked.keys()]) this.reject(key, error);
  }

  /** Fail the questions that have reached the time limit; stop the timer when no question is left. */
  #expire() {
    this.#look += 1;
    for (const [key, { last, limit }] of this.#asked) {
      // The first tick may come right after the question.
      if (this.#look <= last) continue;
      const [type] = key.split(" ");
      const what = `the trafficmock proxy did not answer ${type} within ${limit} ms`;
      this.reject(key, new ConnectionError(`${what}; TRAFFICMOCK_ACK_TIMEOUT_MS allows more time`));
    }
    if (this.#asked.size) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** @param {string} key */
  #take(key) {
    const question = this.#asked.get(key);
    this.#asked.delete(key);
    return question;
  }
}

module.exports = { Questions };
