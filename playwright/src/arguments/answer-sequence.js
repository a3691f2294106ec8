"use strict";

const { UsageError } = require("../errors.js");
const { abortCode } = require("./abort-code.js");
const { readDelay } = require("./delay.js");
const { readFault, readRate } = require("./fault.js");
const { build, readContent } = require("./mock-response.js");
const { checked, RESPONSE } = require("./options.js");
const { readChunks } = require("./stream-parts.js");

/**
 * Reads `mock(url, { sequence })`: the answers that the proxy gives one after the other.
 *
 * @typedef {import("../../index.js").SequenceAnswer} SequenceAnswer
 * @typedef {{ result: any, delayMs?: number, pieces?: number[], rate?: number }} Step a `SequenceStep` of `route:register`
 *
 * @param {readonly SequenceAnswer[]} sequence
 * @param {number} [delay] of the answers that have none
 * @returns {Promise<Step[]>}
 * @throws {UsageError} an answer is invalid; the error has its number
 */
async function readSequence(sequence, delay) {
  if (!Array.isArray(sequence) || !sequence.length) {
    const given = JSON.stringify(sequence);
    throw new UsageError(`sequence is a list of answers, such as [503, 503, { json: { paid: true } }], not ${given}`);
  }
  const steps = [];
  for (const [index, given] of sequence.entries()) {
    try {
      const answer = checked("sequence", typeof given === "number" ? { status: given } : given);
      if (answer === undefined) throw new UsageError("a status or an object such as { status: 503 } is expected");
      steps.push(await readStep({ delay, ...answer }));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(`answer ${index + 1} of the sequence: ${error.message}`);
    }
  }
  return steps;
}

/**
 * Read one answer of a mock.
 *
 * @param {Exclude<SequenceAnswer, number>} answer
 * @returns {Promise<Step>}
 * @throws {UsageError} it is invalid
 */
async function readStep(answer) {
  const { abort, delay, fault, after, rate, chunks, body, json, path, ...rest } = answer;
  const delayMs = readDelay(delay);
  const later = delayMs === undefined ? {} : { delayMs };
  if (abort !== undefined) {
    const beside = [...RESPONSE, "chunks", "fault", "after", "rate"].find((key) => key in answer);
    if (beside) throw new UsageError(`abort is a failure and has no ${beside}`);
    return { result: { action: "abort", errorCode: abortCode(abort) }, ...later };
  }
  const breaks = readFault(fault, after);
  if (rate !== undefined && (chunks !== undefined || breaks.fault)) {
    throw new UsageError("rate excludes chunks and fault");
  }
  const atRate = readRate(rate);
  if (chunks === undefined) {
    const { url: _, ...response } = build({ ...rest, ...(await readContent({ body, json, path })) }, "");
    return { result: { action: "fulfill", response, ...breaks }, ...later, ...atRate };
  }
  if ([body, json, path, fault].some((each) => each !== undefined)) {
    throw new UsageError("chunks exclude body, json, path and fault");
  }
  const { whole, pieces } = readChunks(chunks);
  const { url: _, ...response } = build({ ...rest, content: whole }, "");
  return { result: { action: "fulfill", response }, pieces, ...later };
}

module.exports = { readSequence, readStep };
