"use strict";

const { REPORT } = require("trafficmock-agent/protocol/facts");
const { shownPath } = require("../session/call-site.js");
const { runOfProcess } = require("../connection/run-age.js");
const { reportSettings } = require("../settings.js");
const { DataFile } = require("./data-file.js");
const { makeReport } = require("./report-maker.js");
const { askForReport, askedTexts, testRecord } = require("./test-record.js");

/**
 * One process of a run, with the tests that its report gets; `trafficmock/testing/reporting` is the same for Python.
 *
 * @typedef {import("../connection/worker-connection.js").WorkerConnection} WorkerConnection
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("./test-record.js").FinishedTest} FinishedTest
 * @typedef {import("./test-record.js").ReportAnswer} ReportAnswer
 * @typedef {import("../settings.js").ReportSettings} ReportSettings
 */

/** The variable by which a reporter tells the workers that it counts the tests and merges the data. */
const HAS_REPORTER = "TRAFFICMOCK_REPORT_HAS_REPORTER";

class RunRecorder {
  /** @type {Record<string, number>} */
  #counts = {};
  /** @type {Record<string, any>} */
  #workers = {};
  /** @type {any[]} */
  #refused = [];
  /** @type {any[]} */
  #frameworks = [];
  /** @type {string | undefined} of a strict run */
  #noApplication;
  #dropped = 0;
  #problem = "";
  #isEnded = false;

  /**
   * @param {ReportSettings} settings
   * @param {string} runner
   * @param {string} worker
   */
  constructor(settings, runner, worker) {
    this.settings = settings;
    this.startedAt = Date.now();
    this.file = new DataFile(settings.directory, `${runner}-${worker}`);
    const process_ = { runner, worker, pid: process.pid, startedAt: this.startedAt, ...runOfProcess() };
    this.file.write({ type: "begin", process: process_ });
  }

  /** @param {Error} fault why the report is not complete; the first one counts */
  fail({ message }) {
    this.#problem ||= message;
  }

  /** @param {boolean | undefined} failed `undefined`: nobody knows @returns {boolean} whether the report has such a test */
  wants(failed) {
    return this.settings.mode === "on" || failed !== false;
  }

  /**
   * @param {string} outcome
   * @param {{ isRetry?: boolean }} [how] a retry counts in place of the run before it, which has failed
   */
  count(outcome, { isRetry = false } = {}) {
    if (isRetry && this.#counts.failed) this.#counts.failed -= 1;
    this.#counts[outcome] = (this.#counts[outcome] ?? 0) + 1;
    if (!this.#counts.failed) delete this.#counts.failed;
  }

  /**
   * Write the record of a test, and what no test owned meanwhile, because the history may drop it.
   *
   * @param {Session} session that has ended
   * @param {FinishedTest} test
   * @param {Reported} reported what the proxy has
   */
  async write(session, test, { answer, missing }) {
    const record = testRecord(session, test, answer, missing);
    if (answer) this.#counted(answer);
    const har = answer?.entries.length ? this.file.writeHar(test.title, answer.har) : undefined;
    this.file.write({ type: "test", test: { ...record, ...(har && { har }) } });
    await this.addUnowned(session.connection, session.registration.startedAt);
  }

  /**
   * Write what no test owned; what is there twice is merged later.
   *
   * @param {WorkerConnection} connection
   * @param {number} [since] epoch ms; by default the beginning of the run
   */
  async addUnowned(connection, since = this.startedAt) {
    try {
      const answer = await askForReport(connection, this.settings, { since });
      const { entries, connections, omitted } = answer;
      this.#counted(answer);
      if (entries.length || connections.length || omitted) {
        this.file.write({ type: "unowned", requests: entries, webSockets: connections, omitted });
      }
    } catch (error) {
      this.#problem = /** @type {Error} */ (error).message;
    }
  }

  /** @param {ReportAnswer} answer */
  #counted({ service, counts }) {
    this.#workers[counts.worker] = { ...counts, service };
  }

  /** @param {Session} session that has ended: write what it has used of HARs */
  addHars({ hars }) {
    for (const [file, { entries, used }] of hars) {
      const numbers = [...used].sort((one, other) => one - other);
      this.file.write({ type: "har", file: shownPath(file), entries, used: numbers });
    }
  }

  /** @param {import("../connection/unowned-text.js").Unmatched & { noApplication?: string }} unmatched by strict mode */
  addRefused({ requests, dropped, frameworks = [], noApplication = "" }) {
    this.#refused.push(...requests);
    this.#frameworks.push(...frameworks);
    this.#noApplication = noApplication;
    this.#dropped = Math.max(this.#dropped, dropped);
  }

  /** Why the report is not complete; empty if it is. */
  get problem() {
    return this.file.problem || this.#problem;
  }

  /** @returns {object} the record of the end of this process */
  ended() {
    const { problem } = this;
    return {
      type: "end",
      process: { endedAt: Date.now(), ...(problem && { problem }) },
      counts: this.#counts,
      workers: this.#workers,
      refused: this.#refused,
      refusedDropped: this.#dropped,
      // For the reporter.
      ...(this.#noApplication !== undefined && { frameworks: this.#frameworks, noApplication: this.#noApplication }),
    };
  }

  /** Write the end of this process. */
  end() {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.file.write(this.ended());
  }

  /**
   * Make the report of all processes that have written so far.
   * @param {import("./report-maker.js").Proxy[]} proxies that may make it
   * @returns {string} why it could not be made
   */
  merge(proxies) {
    return makeReport(this.settings.directory, JSON.stringify(proxies));
  }
}

/** @typedef {{ answer?: ReportAnswer, missing?: string }} Reported what the proxy has of a test, or why it was not asked */

/**
 * Ask the proxy what it has of a test that has ended.
 *
 * @param {Session} session
 * @param {string} [error] the text of its failure, which is redacted as well
 * @returns {Promise<Reported>}
 */
async function reported(session, error) {
  const settings = reportSettings() ?? { bodyBytes: REPORT.bodyBytes, redact: [] };
  try {
    const texts = askedTexts(session, error);
    return { answer: await askForReport(session.connection, settings, { testId: session.id, texts }) };
  } catch (failure) {
    return { missing: /** @type {Error} */ (failure).message };
  }
}

/** @type {RunRecorder | undefined} */
let current;

/**
 * @param {string} runner
 * @param {string} worker
 * @returns {RunRecorder | undefined} that of this process, made at the first call; `undefined` if no report is wanted
 */
function recorder(runner, worker) {
  const settings = reportSettings();
  if (settings) current ??= new RunRecorder(settings, runner, worker);
  return current;
}

module.exports = { HAS_REPORTER, RunRecorder, recorder, reported };
