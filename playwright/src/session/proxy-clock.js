"use strict";

// Kept, because test runners replace the clocks of a process.
const { bigint } = process.hrtime;
const { setImmediate } = globalThis;

/** The drift of two machines' clocks, as a ratio: each may be slewed by up to 500 ppm. */
const DRIFT = 0.001;

/** @returns {number} the monotonic clock of this process, in microseconds */
const now = () => Number(bigint() / 1000n);

/** A turn that takes longer was blocked, perhaps by another process that made requests; µs. */
const LONGEST_TURN = 20_000;

/** @type {number | undefined} when the turn of the event loop began that handles messages of the proxy */
let turn;

/** Begin to handle messages of the proxy: what they resume in this turn belongs to it. */
function beginTurn() {
  if (turn !== undefined) return;
  turn = now();
  setImmediate(() => (turn = undefined));
}

/**
 * @returns {number} the time from which on requests may be due to what runs now, in microseconds. A request that the
 *   same turn sent may have reached the proxy already. Of turns that other events began, the beginning is not known.
 */
function turnBegan() {
  const at = now();
  return turn !== undefined && at - turn < LONGEST_TURN ? turn : at;
}

/**
 * Converts times of this process's clock to those of the proxy's. Both are monotonic, in microseconds.
 *
 * On one machine they are the same clock, so two readings can be compared. Of another machine's clock it is only known
 * that the proxy read it before its answer came here.
 */
class ProxyClock {
  #reading;
  #isOurs;

  /**
   * @param {number} reading of the proxy's clock
   * @param {{ asked: number, answered: number }} own readings of this process's clock before and after it
   */
  constructor(reading, { asked, answered }) {
    this.#reading = reading;
    /** The clock of this process when the reading came. */
    this.answered = answered;
    this.#isOurs = asked <= reading && reading <= answered + 1;
  }

  /**
   * @param {number} moment by the clock of this process
   * @returns {number} the earliest time that the proxy's clock may have had then
   */
  timeOf(moment) {
    if (this.#isOurs) return moment;
    const since = moment - this.answered;
    return this.#reading + Math.floor(since - Math.abs(since) * DRIFT);
  }

  /**
   * @param {number} moment by the clock of this process
   * @returns {number} the time from the reading to it, in microseconds; for another machine's clock it is too short by
   *   the time that the answer took
   */
  elapsed(moment) {
    return moment - (this.#isOurs ? Number(this.#reading) : this.answered);
  }
}

module.exports = { ProxyClock, now, beginTurn, turnBegan };
