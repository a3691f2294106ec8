"use strict";

const { setInterval, clearInterval } = require("node:timers");

/** The interval of a timer that only keeps the process alive. */
const LONG_MS = 2 ** 30;

/** Keeps the process alive between `hold` and `release`, as an open socket would. */
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
