"use strict";

const { mkdir, writeFile } = require("node:fs/promises");
const { dirname } = require("node:path");
const { PAGE } = require("./report-maker.js");
const { testRecord } = require("./test-record.js");
const { addToError, trafficLines } = require("./traffic-report.js");

/**
 * Adds the traffic of the applications to Playwright's report of a test: to its error, as the page of a report, and as a HAR.
 *
 * @typedef {import("../session/session.js").Session} Session
 */

/**
 * Add to the error of a test what its traffic says about it.
 *
 * @param {Session} session
 * @param {import("@playwright/test").TestInfo} testInfo
 */
async function addTraffic(session, testInfo) {
  const lines = await trafficLines(session).catch(() => undefined);
  const { lost } = session.connection;
  if (lost || !lines) {
    const { browserProxyPort } = session.registration;
    const port = browserProxyPort
      ? [`The browser's requests go through the proxy, by its port ${browserProxyPort}.`]
      : [];
    addToError(testInfo, [lost?.message ?? "The proxy did not answer.", ...port]);
  } else {
    addToError(testInfo, lines);
  }
}

/**
 * Attach the page of the test's traffic, and its HAR.
 *
 * @param {Session} session that has ended
 * @param {import("@playwright/test").TestInfo} testInfo
 * @param {import("./test-record.js").FinishedTest} test
 * @param {import("./run-recorder.js").Reported} reported
 */
async function attachReport(session, testInfo, test, { answer }) {
  if (!answer) return;
  const records = [{ file: session.id }, { type: "test", test: testRecord(session, test, answer) }];
  const made = await session.connection
    .report([Buffer.from(records.map((each) => JSON.stringify(each)).join("\n"))])
    .catch(({ message }) => addToError(testInfo, [`There is no page of its traffic: ${message}`]));
  if (made) await attachFile(testInfo, "server-traffic.html", made[PAGE], "text/html");
  if (answer.entries.length) {
    await attachFile(testInfo, "server-traffic.har", JSON.stringify(answer.har, undefined, 1), "application/json");
  }
}

/**
 * Attach a file, which the report links and a terminal reporter names. Of an attachment without a file, both would show
 * the source text.
 *
 * @param {import("@playwright/test").TestInfo} testInfo
 * @param {string} name
 * @param {string | Buffer} content
 * @param {string} contentType
 */
async function attachFile(testInfo, name, content, contentType) {
  const path = testInfo.outputPath(name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  testInfo.attachments.push({ name, path, contentType });
}

module.exports = { addTraffic, attachReport };
