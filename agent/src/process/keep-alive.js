"use strict";

const { setInterval, clearInterval } = require("node:timers");

/** Any long time: the timer is there to be counted, not to fire. */
const LONG_MS = 2 ** 30;

/** Keeps the process alive while something is held, as a socket in use would. */
class KeepAlive {
  constructor() {
    this.holds = 0;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  hold() {
    this.holds += 1;
    this.timer ??= setInterval(() => {}, LONG_MS);
  }

  release() {
    this.holds -= 1;
    if (this.holds > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

module.exports = { KeepAlive };
