"use strict";

const { randomBytes } = require("node:crypto");
const { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { REPORT } = require("trafficmock-agent/protocol/facts");

/**
 * The data of a report: one file of JSON lines for each process of the run. `trafficmock/report/data_files.py` is the
 * same for Python.
 */

const DATA = "data";
const HARS = "har";

/**
 * The records of one process; it is made with the first record. An error of the file system ends the writing, and does no
 * harm to the test that runs.
 */
class DataFile {
  /** @type {string | undefined} */
  path;

  /**
   * @param {string} directory of the report
   * @param {string} name the beginning of the file's name: the runner and the worker
   */
  constructor(directory, name) {
    this.directory = directory;
    this.name = name;
    /** Why nothing is written any more. */
    this.problem = "";
  }

  /** @param {object} record */
  write(record) {
    this.#try(() => {
      if (!this.path) {
        mkdirSync(join(this.directory, DATA), { recursive: true });
        this.path = join(this.directory, DATA, `${fileName(this.name)}-${process.pid}-${randomId()}.jsonl`);
      }
      appendFileSync(this.path, `${JSON.stringify(record)}\n`);
    });
  }

  /**
   * Write the HAR of a test.
   *
   * @param {string} title
   * @param {object} har
   * @returns {string | undefined} its path within the report; `undefined` if it could not be written
   */
  writeHar(title, har) {
    const path = `${HARS}/${fileName(title)}-${randomId()}.har`;
    return this.#try(() => {
      mkdirSync(join(this.directory, HARS), { recursive: true });
      writeFileSync(join(this.directory, path), JSON.stringify(har));
      return path;
    });
  }

  /**
   * @template T
   * @param {() => T} write
   * @returns {T | undefined}
   */
  #try(write) {
    if (this.problem) return undefined;
    try {
      return write();
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
      return undefined;
    }
  }
}

const randomId = () => randomBytes(4).toString("hex");

/**
 * @param {string} text
 * @returns {string} the text as a part of a file's name, safe on any file system
 */
function fileName(text) {
  const safe = text.replace(/[^A-Za-z0-9.-]+/g, "_").replace(/^[._]+|[._]+$/g, "");
  return safe.slice(-REPORT.longestName) || "test";
}

/**
 * @param {string} directory of a report
 * @returns {string[]} the paths of its data files, in the order of their names
 */
function dataFiles(directory) {
  try {
    const names = readdirSync(join(directory, DATA)).filter((name) => name.endsWith(".jsonl"));
    return names.sort().map((name) => join(directory, DATA, name));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * @param {string} path
 * @returns {any[]} the records of a process; a last line that is not whole is left out
 */
function readRecords(path) {
  return readFileSync(path, "utf8").split("\n").flatMap(parsed);
}

/** @param {string} line @returns {any[]} */
function parsed(line) {
  try {
    const record = JSON.parse(line);
    return typeof record === "object" && record !== null && !Array.isArray(record) ? [record] : [];
  } catch {
    return [];
  }
}

/**
 * Remove what an earlier run of the same runner has left in a directory.
 *
 * @param {string} directory
 * @param {string} name the beginning of the names of its files
 */
function forget(directory, name) {
  mkdirSync(directory, { recursive: true });
  const beginning = join(directory, DATA, `${fileName(name)}-`);
  for (const path of dataFiles(directory).filter((each) => each.startsWith(beginning))) {
    for (const { test } of readRecords(path)) {
      const har = test?.har;
      if (typeof har === "string" && /^har\/[A-Za-z0-9._-]+\.har$/.test(har)) {
        rmSync(join(directory, har), { force: true });
      }
    }
    rmSync(path, { force: true });
  }
}

module.exports = { DataFile, dataFiles, forget, readRecords };
