"use strict";

const { UsageError } = require("../errors.js");
const { abortCode } = require("./abort-code.js");
const { readDelay } = require("./delay.js");
const { readFault } = require("./fault.js");
const { build, readContent } = require("./mock-response.js");
const { checked, RESPONSE } = require("./options.js");

/**
 * Reads `mock(url, { sequence })`: the answers that the proxy gives one after the other.
 *
 * @typedef {import("../../index.js").SequenceAnswer} SequenceAnswer
 * @typedef {{ result: object, delayMs?: number }} Step a `SequenceStep` of `route:register`
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
      steps.push(await readStep(given, delay));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(`answer ${index + 1} of the sequence: ${error.message}`);
    }
  }
  return steps;
}

/**
 * @param {SequenceAnswer} given
 * @param {number} [defaultDelay]
 * @returns {Promise<Step>}
 */
async function readStep(given, defaultDelay) {
  const answer = checked("sequence", typeof given === "number" ? { status: given } : given);
  if (answer === undefined) throw new UsageError("a status or an object such as { status: 503 } is expected");
  const { abort, delay = defaultDelay, fault, after, body, json, path, ...rest } = answer;
  const delayMs = readDelay(delay);
  const later = delayMs === undefined ? {} : { delayMs };
  if (abort === undefined) {
    const { url: _, ...response } = build({ ...rest, ...(await readContent({ body, json, path })) }, "");
    return { result: { action: "fulfill", response, ...readFault(fault, after) }, ...later };
  }
  const beside = [...RESPONSE, "fault", "after"].find((key) => key in answer);
  if (beside) throw new UsageError(`abort is a failure and has no ${beside}`);
  return { result: { action: "abort", errorCode: abortCode(abort) }, ...later };
}

module.exports = { readSequence };
