"use strict";

const { spawnSync } = require("node:child_process");
const { readFileSync, statSync } = require("node:fs");
const { join, relative } = require("node:path");
const { REPORT } = require("trafficmock-agent/protocol/facts");
const { commandLine } = require("../command-line.js");
const { command } = require("../config.js");
const { WorkerConnection } = require("../connection/worker-connection.js");
const { UsageError } = require("../errors.js");
const { writeWhole } = require("../whole-files.js");
const { dataFiles } = require("./data-file.js");

/**
 * The program of a process that writes the report of a directory: the first of its proxies that answers makes it, or the
 * command. Playwright ends a proxy that it started before its reporters end, but then the command is there.
 */

const [, , directory] = process.argv;
const LINE_END = Buffer.from("\n");

async function main() {
  /** @type {WorkerConnection | undefined} */
  let connection;
  for (const { proxyUrl, token } of JSON.parse(readFileSync(0, "utf8"))) {
    connection ??= await WorkerConnection.open({ proxyUrl, token, workerId: "report" }).catch(() => undefined);
  }
  if (!connection) return byCommand();
  for (let round = 0; round < REPORT.mostRounds; round++) {
    const before = sizes();
    const files = await connection.report(data());
    for (const [name, content] of Object.entries(files)) writeWhole(join(directory, name), content);
    // Another process may have replaced them by newer ones meanwhile.
    if (sizes() === before) break;
  }
  connection.close();
}

/** @returns {Generator<Buffer>} the lines of all data files, each file behind a line with its path */
function* data() {
  for (const path of dataFiles(directory)) {
    yield Buffer.concat([Buffer.from(`${JSON.stringify({ file: path })}\n`), readFileSync(path), LINE_END]);
  }
}

/** @returns {string} the sizes of all data files */
const sizes = () => JSON.stringify(dataFiles(directory).map((path) => [path, statSync(path).size]));

/** @throws {UsageError} the command is not there, or has not made the report */
function byCommand() {
  const place = relative(process.cwd(), directory) || ".";
  const merge = ["report", "merge", place, "--output", place];
  let words;
  try {
    words = command();
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new UsageError(`no proxy answers, and ${message}; then trafficmock ${commandLine(merge)} makes the page`);
  }
  const [program, ...first] = words;
  const { status, stderr } = spawnSync(program, [...first, ...merge], {
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status === 0) return;
  const why = stderr.trim().split("\n").at(-1) ?? "";
  throw new UsageError(why.replace(/^trafficmock report: (the report is not complete: )?/, ""));
}

main().catch((error) => {
  process.stderr.write(error.message);
  process.exit(1);
});
