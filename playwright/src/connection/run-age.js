"use strict";

/** When the run of this process began: strict mode lists only what it refused since then. */

/** The variable with the beginning of a run, in epoch ms: the workers inherit it from the process that starts them. */
const RUN_STARTED = "TRAFFICMOCK_RUN_STARTED";

/** Say that the run begins with this process, unless it has begun with the one that started it. */
function beginRun() {
  process.env[RUN_STARTED] ||= String(Math.floor(performance.timeOrigin));
}

/** @returns {number} when the run of this process began; epoch ms */
const runStartedAt = () => Math.floor(Number(process.env[RUN_STARTED]) || performance.timeOrigin);

/**
 * @returns {{ runStartedAt: number } | { runParent: number }} what the processes of a run have in common: that, or the process
 *   that started them, as Vitest and Node's runner do
 */
const runOfProcess = () => (process.env[RUN_STARTED] ? { runStartedAt: runStartedAt() } : { runParent: process.ppid });

/** @returns {number} how long ago the run of this process began; ms */
function runAgeMs() {
  return Math.max(0, Date.now() - runStartedAt());
}

module.exports = { beginRun, runAgeMs, runOfProcess };
