"use strict";

/** When the run of this process began: strict mode lists only what it refused since then. */

/** The variable with the beginning of a run, in epoch ms: the workers inherit it from the process that starts them. */
const RUN_STARTED = "TRAFFICMOCK_RUN_STARTED";

/** Say that the run begins with this process, unless it has begun with the one that started it. */
function beginRun() {
  process.env[RUN_STARTED] ||= String(Math.floor(performance.timeOrigin));
}

/** @returns {number} how long ago the run of this process began; ms */
function runAgeMs() {
  const started = Number(process.env[RUN_STARTED]) || performance.timeOrigin;
  return Math.max(0, Math.ceil(Date.now() - started));
}

module.exports = { beginRun, runAgeMs };
