#!/usr/bin/env node
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { EnvironmentError, trafficmockCommand } = require("../src/index.js");

/** Calls `trafficmock` with the words of the command line; without any, `trafficmock serve`. */
function main() {
  const [program, ...words] = trafficmockCommand();
  const given = process.argv.slice(2);
  const child = spawn(program, [...words, ...(given.length ? given : ["serve"])], { stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    // Ctrl-C in a terminal reaches both processes.
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("error", (/** @type {Error} */ { message }) => fail(`Python cannot be started: ${message}`));
  child.on("exit", (status, signal) => {
    process.exitCode = status ?? 128 + (signal ? constants.signals[signal] : 0);
  });
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`trafficmock-proxy: ${message}\n`);
  process.exitCode = 1;
}

try {
  main();
} catch (error) {
  if (!(error instanceof EnvironmentError)) throw error;
  fail(error.message);
}
