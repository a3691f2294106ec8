"use strict";

const { appendFileSync } = require("node:fs");
const { runInThisContext } = require("node:vm");
const { isMainThread } = require("node:worker_threads");
const { makeReport } = require("./report-maker.js");

/**
 * Writes the report at the end of a process that has no reporter.
 *
 * @typedef {import("./run-recorder.js").RunRecorder} RunRecorder
 * @typedef {{ record: string, directory: string, proxy: string }} End of a run: the last line of its data file
 */

/** The process itself. Jest gives each file of tests another object in its place, whose events never come. */
const real = /** @type {NodeJS.Process & Record<symbol, Map<string, End> | undefined>} */ (runInThisContext("process"));

/** All runs of this process: each file of tests has one in Jest. */
const ENDS = Symbol.for("trafficmock.report.ends");

/**
 * Write the end of a run when the process ends, as it is now, unless this is called again. Only text is kept: functions
 * would keep the whole environment of a file of tests in memory.
 *
 * @param {RunRecorder} run
 * @param {import("./report-maker.js").Proxy} proxy that may make the report
 */
function endsWithProcess(run, { proxyUrl, token }) {
  const { path, directory } = run.file;
  // A thread may be ended without any event; its records are merged by the command.
  if (!isMainThread) return run.file.write(run.ended());
  const ends = (real[ENDS] ??= begin());
  const proxy = JSON.stringify([{ proxyUrl, token }]);
  if (path) ends.set(path, { record: JSON.stringify(run.ended()), directory, proxy });
}

/** @returns {Map<string, End>} the ends of runs, by their data files */
function begin() {
  /** @type {Map<string, End>} */
  const ends = new Map();
  const write = () => {
    try {
      writeAll(ends);
    } catch (error) {
      // Thrown here it would end the process with a status as if tests had failed.
      tell(/** @type {Error} */ (error).message);
    }
  };
  real.once("exit", write);
  // Vitest ends its workers by this signal, and half a second later in any case.
  real.once("SIGTERM", () => {
    write();
    if (!real.listenerCount("SIGTERM")) real.kill(real.pid, "SIGTERM");
  });
  return ends;
}

/** @param {Map<string, End>} ends of runs, which are written once */
function writeAll(ends) {
  const all = [...ends];
  ends.clear();
  for (const [path, { record }] of all) appendFileSync(path, `${record}\n`);
  const directories = new Map(all.map(([, { directory, proxy }]) => [directory, proxy]));
  for (const [directory, proxy] of directories) tell(makeReport(directory, proxy));
}

/** @param {string} problem */
function tell(problem) {
  if (problem) real.stderr.write(`trafficmock: the report is not complete: ${problem}\n`);
}

module.exports = { endsWithProcess };
