"use strict";

const { setInterval } = require("node:timers");

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
    if (this.holds > 1) return;
    this.timer ??= setInterval(() => {}, LONG_MS);
    this.timer.ref();
  }

  release() {
    this.holds -= 1;
    // It is made once: each request that is held for itself would make another one.
    if (this.holds === 0) this.timer?.unref();
  }
}

module.exports = { KeepAlive };
