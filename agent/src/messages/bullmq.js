"use strict";

const { HEADER, baggageOf, contextIn, handle } = require("./message-contexts.js");

/** @typedef {import('../contexts/test-contexts.js').TestContexts} TestContexts */

/**
 * Carry the context in `telemetry.metadata` of a job's options, where BullMQ's own instrumentation has the headers of
 * OpenTelemetry. Jobs of a schedule work for the whole application, and have none.
 * @param {TestContexts} contexts
 * @param {any} bullmq or one of its classes
 */
function hookBullmq(contexts, { Job, Worker }) {
  if (Job) hookJobs(contexts, Job);
  if (Worker) hookWorkers(contexts, Worker);
}

/**
 * @param {TestContexts} contexts
 * @param {any} Job
 */
function hookJobs(contexts, Job) {
  const { asJSON } = Job.prototype;
  Job.prototype.asJSON = function (/** @type {any[]} */ ...args) {
    this.opts = withMetadata(contexts, this.opts);
    return asJSON.apply(this, args);
  };
}

/**
 * @param {TestContexts} contexts
 * @param {any} Worker
 */
function hookWorkers(contexts, Worker) {
  const { processJob, run } = Worker.prototype;
  Worker.prototype.processJob = function (/** @type {any} */ job, /** @type {any[]} */ ...args) {
    return handle(contexts, jobContext(contexts, job), () => processJob.call(this, job, ...args));
  };
  // Its loop is for all jobs, whoever starts it.
  Worker.prototype.run = function (/** @type {any[]} */ ...args) {
    return contexts.within(undefined, () => run.apply(this, args));
  };
}

/**
 * Run jobs in their contexts in a process of a sandbox, too.
 * @param {TestContexts} contexts
 * @param {any} module
 */
function hookSandbox(contexts, { ChildProcessor }) {
  const { start } = ChildProcessor.prototype;
  ChildProcessor.prototype.start = function (/** @type {any} */ job, /** @type {any[]} */ ...args) {
    let started;
    handle(contexts, jobContext(contexts, job), () => {
      started = start.call(this, job, ...args);
      return this.currentJobPromise;
    });
    return started;
  };
}

/**
 * @param {TestContexts} contexts
 * @param {any} job
 */
function jobContext(contexts, job) {
  const { telemetry, tm } = job?.opts ?? {};
  return contextIn(contexts, headersIn(telemetry?.metadata ?? tm));
}

/**
 * @param {TestContexts} contexts
 * @param {any} opts of a job
 * @returns {any} the options, with the context if it can be added
 */
function withMetadata(contexts, opts) {
  const { telemetry, repeat, repeatJobKey } = opts ?? {};
  const headers = telemetry?.metadata === undefined ? {} : headersIn(telemetry.metadata);
  if (!headers || telemetry?.omitContext || repeat || repeatJobKey) return opts;
  const baggage = baggageOf(contexts, headers[HEADER]);
  if (baggage === undefined) return opts;
  return { ...opts, telemetry: { ...telemetry, metadata: JSON.stringify({ ...headers, [HEADER]: baggage }) } };
}

/**
 * @param {unknown} metadata
 * @returns {Record<string, unknown> | undefined} nothing for what another instrumentation wrote in a form of its own
 */
function headersIn(metadata) {
  try {
    const headers = JSON.parse(String(metadata));
    return headers && typeof headers === "object" && !Array.isArray(headers) ? headers : undefined;
  } catch {
    return undefined;
  }
}

module.exports = { hookBullmq, hookSandbox };
