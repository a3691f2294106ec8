"use strict";

const { mkdirSync, statSync } = require("node:fs");
const { join } = require("node:path");
const { REPORT } = require("trafficmock-agent/protocol/facts");
const { writeWhole } = require("../whole-files.js");
const { dataFiles, readRecords } = require("./data-file.js");
const { template } = require("./page-template.js");
const { runDocument } = require("./run-document.js");

/**
 * Writes `run.json` and `index.html` of a report from the data of its processes, as
 * `trafficmock/report/report_directory.py` does.
 */

const PAGE = "index.html";
const DATA_MARK = "<!-- the data of the run -->";

/** @param {string} directory */
function writeReport(directory) {
  mkdirSync(directory, { recursive: true });
  for (let round = 0; round < REPORT.mostRounds; round++) {
    const before = sizes(directory);
    const document = runDocument(dataFiles(directory).map(readRecords));
    writeWhole(join(directory, "run.json"), `${JSON.stringify(document, undefined, 1)}\n`);
    writeWhole(join(directory, PAGE), savedPage(forPage(document)));
    // Another process may have replaced both by newer ones meanwhile.
    if (sizes(directory) === before) return;
  }
}

/** @param {string} directory @returns {string} the sizes of all data files */
const sizes = (directory) => JSON.stringify(dataFiles(directory).map((path) => [path, statSync(path).size]));

/**
 * @param {any} document of a run
 * @returns {string} the page that shows it, which is whole in itself
 */
function savedPage(document) {
  const [before, after] = template().split(DATA_MARK);
  // No text within the element can end it, or begin a comment.
  const data = JSON.stringify(document).replaceAll("<", "\\u003c");
  return `${before}<script type="application/json" id="run">${data}</script>${after}`;
}

/** @param {any} document @returns {any} the document for the page: beyond its limit, tests have no traffic there */
function forPage(document) {
  let room = REPORT.pageBytes;
  const tests = document.tests.map((/** @type {any} */ test) => {
    const size = JSON.stringify([test.requests, test.webSockets, test.sections ?? []]).length;
    if (size > room) {
      const missing = "its traffic is in run.json, because the page would be too large";
      return { ...test, requests: [], webSockets: [], sections: [], missing };
    }
    room -= size;
    return test;
  });
  return { ...document, tests };
}

module.exports = { PAGE, savedPage, writeReport };
