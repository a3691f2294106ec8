"use strict";

const { performance } = require("node:perf_hooks");
const { MOST_ARRIVALS } = require("../protocol/facts.js");

/** Node's own clock, kept because tests of applications replace it. */
const now = performance.now.bind(performance);

/** What comes within this time of a piece belongs to it; ms. */
const TOGETHER_MS = 10;

/** When the pieces of a body came, from the head of its response on. */
class Arrival {
  constructor() {
    this.began = now();
    /** @type {[number, number][]} */
    this.pieces = [];
  }

  /** @param {number} size of a chunk; bytes */
  push(size) {
    const at = Math.round(now() - this.began);
    const last = this.pieces[this.pieces.length - 1];
    if (last && (at - last[0] < TOGETHER_MS || this.pieces.length === MOST_ARRIVALS)) last[1] += size;
    else this.pieces.push([at, size]);
  }

  /** @returns {[number, number][] | undefined} the milliseconds and bytes of each; `undefined` if all came at once */
  recorded() {
    return this.pieces.length > 1 ? this.pieces : undefined;
  }
}

module.exports = { Arrival };
