"use strict";

const { relative, resolve } = require("node:path");
const { UsageError } = require("./errors.js");
const { beginRun } = require("./connection/run-age.js");
const { frameworksText, unownedText } = require("./connection/unowned-text.js");
const { dataFiles, forget, readRecords } = require("./report/data-file.js");
const { guardedNow } = require("./report/guard.js");
const { PAGE } = require("./report/report-maker.js");
const { redactedText } = require("./report/redacted-text.js");
const { ServerOutput } = require("./report/server-output.js");
const { refusedIn } = require("./report/refused-requests.js");
const { HAS_REPORTER, RunRecorder } = require("./report/run-recorder.js");
const { proxyOf, reportSettings } = require("./settings.js");

/**
 * A reporter of Playwright: `reporter: [["list"], ["trafficmock-playwright/reporter", { outputFolder: "report" }]]`.
 *
 * The fixtures write what the report has of each test; the workers inherit from this process where to.
 */

const OPTIONS = ["outputFolder", "mode", "configDir", "_mode", "_commandHash", "_isTestServer"];
const RUNNER = "playwright";
/** The attachment of a failed test. */
const SERVER_OUTPUT = "webServer output during this test";

class TrafficMockReporter {
  /** @type {RunRecorder | undefined} */
  #run;
  /** @type {import("./report/report-maker.js").Proxy[]} */
  #proxies = [];
  #mode = "";
  #servers = new ServerOutput();
  /** @type {Map<string, string>} the outcome of each test by its id; that of its last retry counts */
  #outcomes = new Map();

  /** @param {import("../reporter.js").ReporterOptions & { configDir?: string }} [options] Playwright adds its own */
  constructor(options = {}) {
    const { outputFolder, mode, configDir = process.cwd() } = options;
    const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name) && !name.startsWith("_"));
    if (unknown) throw new UsageError(`the reporter has the options outputFolder and mode, not ${unknown}`);
    const folder = process.env.TRAFFICMOCK_REPORT || resolve(configDir, outputFolder ?? "trafficmock-report");
    process.env.TRAFFICMOCK_REPORT = resolve(folder);
    this.#mode = process.env.TRAFFICMOCK_REPORT_MODE || mode || "retain-on-failure";
    process.env.TRAFFICMOCK_REPORT_MODE = this.#mode;
    process.env[HAS_REPORTER] = "1";
    beginRun();
  }

  /** @param {import("@playwright/test").FullConfig} config */
  onBegin({ projects }) {
    const settings = reportSettings();
    if (!settings) return;
    forget(settings.directory, RUNNER);
    const run = (this.#run = new RunRecorder(settings, RUNNER, "reporter"));
    const noted = (/** @type {Error} */ fault) => run.fail(fault);
    this.#proxies = guardedNow("find the proxies", () => projects.map(({ use }) => proxyOf(use)), noted) ?? [];
  }

  /**
   * @param {string | Buffer} chunk
   * @param {import("@playwright/test/reporter").TestCase | void} test absent for what a server of the configuration writes
   */
  onStdOut(chunk, test) {
    if (!test) this.#servers.add(chunk);
  }

  /**
   * @param {string | Buffer} chunk
   * @param {import("@playwright/test/reporter").TestCase | void} test
   */
  onStdErr(chunk, test) {
    this.onStdOut(chunk, test);
  }

  /**
   * @param {import("@playwright/test/reporter").TestCase} test
   * @param {import("@playwright/test/reporter").TestResult} result
   */
  onTestEnd(test, result) {
    const outcome = test.outcome();
    const hasFailed = result.status !== test.expectedStatus && result.status !== "skipped";
    this.#outcomes.set(test.id, outcome === "skipped" ? "skipped" : outcome === "unexpected" ? "failed" : "passed");
    const run = this.#run;
    if (!run || !hasFailed) return;
    const noted = (/** @type {Error} */ fault) => run.fail(fault);
    guardedNow("attach the output of a server", () => this.#attachOutput(run, test, result), noted);
  }

  /**
   * Reporters after this one show it.
   * @param {RunRecorder} run
   * @param {import("@playwright/test/reporter").TestCase} test that failed
   * @param {import("@playwright/test/reporter").TestResult} result
   */
  #attachOutput(run, test, result) {
    const written = this.#servers.since(result.startTime.getTime());
    if (!written) return;
    const text = redactedText(written, proxyOf(test.parent.project()?.use ?? {}));
    result.attachments.push({ name: SERVER_OUTPUT, contentType: "text/plain", body: Buffer.from(text) });
    const title = titleOf(test);
    const of = {
      runner: RUNNER,
      worker: String(result.workerIndex),
      title,
      ...(result.retry && { retry: result.retry }),
    };
    run.file.write({ type: "sections", of, sections: [{ title: SERVER_OUTPUT, text }] });
  }

  /** @returns {{ status?: "failed" }} the run fails by what strict mode refused and no test owns */
  onEnd() {
    const run = this.#run;
    if (!run) return {};
    for (const outcome of this.#outcomes.values()) run.count(outcome);
    run.end();
    const problem = run.merge(this.#proxies) || run.problem;
    const page = relative(process.cwd(), resolve(run.settings.directory, PAGE));
    process.stdout.write(`  trafficmock report: ${page}\n`);
    if (problem) process.stdout.write(`  the trafficmock report is not complete: ${problem}\n`);
    // What cannot be read may be what fails the run.
    const told = guardedNow(
      "judge the run",
      () => ofNobody(run),
      ({ message }) => process.stdout.write(`\n${message}\n`),
    );
    return told === "" ? {} : { status: "failed" };
  }

  printsToStdio() {
    return false;
  }
}

/**
 * Say what strict mode refused and no test owned.
 *
 * @param {RunRecorder} run
 * @returns {string} what fails the run; empty if it passes
 */
function ofNobody(run) {
  const refused = refusedIn(dataFiles(run.settings.directory).map(readRecords), RUNNER);
  const text = unownedText(refused) || refused.noApplication || "";
  for (const each of [frameworksText(refused), text]) if (each) process.stdout.write(`\n${each}\n`);
  return text;
}

/**
 * @param {import("@playwright/test/reporter").TestCase} test
 * @returns {string} its title as the fixtures write it: from the first `describe` on
 */
function titleOf(test) {
  const [, , , ...titles] = test.titlePath();
  return titles.join(" › ");
}

module.exports = TrafficMockReporter;
