"use strict";

const { spawnSync } = require("node:child_process");

/**
 * Has `run.json` and `index.html` made of the data of a report, by another process, since the end of a process cannot wait for
 * an answer; it also goes on when this process is killed meanwhile.
 *
 * @typedef {{ proxyUrl: string, token?: string }} Proxy
 */

const PAGE = "index.html";
const PROGRAM = require.resolve("./make-report.js");

/**
 * @param {string} directory
 * @param {string} proxies that may make it, a JSON list of `Proxy`
 * @returns {string} why the report is not complete; empty if it is
 */
function makeReport(directory, proxies) {
  // That process does not need the preloads and flags of the test runner.
  const env = { ...process.env, NODE_OPTIONS: "" };
  const { status, stderr, error } = spawnSync(process.execPath, [PROGRAM, directory], {
    env,
    input: proxies,
    encoding: "utf8",
    windowsHide: true,
  });
  return status === 0 ? "" : (error?.message ?? stderr.trim());
}

module.exports = { PAGE, makeReport };
