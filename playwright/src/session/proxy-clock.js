"use strict";

// Test runners replace the clock of a process by one that stands still.
const { bigint } = process.hrtime;

/** How much the clocks of two machines may drift apart: they are corrected by up to 500 millionths. */
const DRIFT = 0.001;

/** @returns {number} the monotonic clock of this process, in microseconds */
const now = () => Number(bigint() / 1000n);

/**
 * The proxy's clock, compared with that of this process. Both are monotonic, in microseconds.
 *
 * On one machine they are the same clock, and the order of two readings is known. Of another machine's clock, it is only
 * known that the proxy read it before its answer came: what seems to lie just before a moment may lie after it.
 */
class ProxyClock {
  #reading;
  #answered;
  #isOurs;

  /**
   * @param {number | undefined} reading of the proxy's clock; nothing from a proxy that does not tell
   * @param {{ asked: number, answered: number }} own readings before and after it
   */
  constructor(reading, { asked, answered }) {
    this.#reading = reading;
    this.#answered = answered;
    this.#isOurs = reading !== undefined && asked <= reading && reading <= answered + 1;
  }

  /**
   * @param {number | undefined} reading of the proxy's clock
   * @param {number} moment by the clock of this process
   * @returns {boolean} whether the reading is surely older
   */
  isBefore(reading, moment) {
    if (reading === undefined || this.#reading === undefined) return false;
    if (this.#isOurs) return reading < moment;
    const [passed, since] = [reading - this.#reading, moment - this.#answered];
    return passed < since - Math.abs(since) * DRIFT;
  }
}

module.exports = { ProxyClock, now };
