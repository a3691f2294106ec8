"use strict";

const { FAULTS, PLAYWRIGHT_CODES } = require("trafficmock-agent/protocol/facts");
const { UsageError } = require("../errors.js");
const { build, readContent } = require("./mock-response.js");
const { checked, RESPONSE, suggestion } = require("./options.js");
const { readChunks } = require("./stream-parts.js");

/**
 * Reads the options of answers: those of `mock` and its `sequence`, `fulfill`, `continue`. An option stands in one
 * function here: `readHow` has those that say how an answer comes, `readAnswer` those of a response that the proxy gives.
 *
 * @typedef {import("../../index.js").SequenceAnswer} SequenceAnswer
 * @typedef {{ delayMs?: number, fault?: { kind: string, after?: number }, rate?: number }} How parts of an `Answer`
 * @typedef {{ action: string, [key: string]: unknown }} Answer of `route:register` or `handler:result`
 */

/**
 * Read the answers of a mock, which the proxy gives one after the other.
 *
 * @param {Exclude<SequenceAnswer, number>} given the options of a single answer
 * @param {readonly SequenceAnswer[] | undefined} sequence the answers, if there are several
 * @returns {Promise<Answer[]>}
 * @throws {UsageError} an answer is invalid; the error has its number
 */
async function readAnswers(given, sequence) {
  if (sequence === undefined) return [await readAnswer(given)];
  const { delay, ...beside } = given;
  if (Object.keys(beside).length) {
    throw new UsageError("with sequence, each answer has its own status, headers and body");
  }
  if (!Array.isArray(sequence) || !sequence.length) {
    const shown = JSON.stringify(sequence);
    throw new UsageError(`sequence is a list of answers, such as [503, 503, { json: { paid: true } }], not ${shown}`);
  }
  const answers = [];
  for (const [index, each] of sequence.entries()) {
    try {
      const answer = checked("sequence", typeof each === "number" ? { status: each } : each);
      if (answer === undefined) throw new UsageError("a status or an object such as { status: 503 } is expected");
      answers.push(await readAnswer({ delay, ...answer }));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(`answer ${index + 1} of the sequence: ${error.message}`);
    }
  }
  return answers;
}

/**
 * Read one answer of a mock; the URL of a response is that of the request.
 *
 * @param {Exclude<SequenceAnswer, number>} answer
 * @returns {Promise<Answer>}
 * @throws {UsageError} it is invalid
 */
async function readAnswer(answer) {
  const { abort, chunks, body, json, path, ...options } = answer;
  const { how, ...rest } = readHow(options);
  if (abort !== undefined) {
    const beside = [...RESPONSE, "chunks", "fault", "after", "rate"].find((key) => key in answer);
    if (beside) throw new UsageError(`abort is a failure and has no ${beside}`);
    return { action: "abort", errorCode: abortCode(abort), ...how };
  }
  if (chunks === undefined) {
    return { action: "fulfill", response: response({ ...rest, ...(await readContent({ body, json, path })) }), ...how };
  }
  const { delayMs = 0, fault, rate } = how;
  if ([body, json, path, fault].some((each) => each !== undefined)) {
    throw new UsageError("chunks exclude body, json, path and fault");
  }
  if (rate !== undefined) throw new UsageError("rate excludes chunks and fault");
  const { whole, sizes } = readChunks(chunks);
  const pieces = sizes.map((size, index) => [index ? delayMs : 0, size]);
  return { action: "fulfill", response: response({ ...rest, content: whole }), pieces };
}

/** @param {import("./mock-response.js").Mock} mock */
function response(mock) {
  const { url: _, ...made } = build(mock, "");
  return made;
}

/**
 * Read those of the options that say how an answer comes, also a real one.
 *
 * @template {object} T
 * @param {T & { delay?: number, fault?: string, after?: number, rate?: number }} options the milliseconds after which the
 *   proxy gives it; the fault with which it breaks, and the bytes of the body before; the bytes of the body in a second
 * @returns {Omit<T, "delay" | "fault" | "after" | "rate"> & { how: How }} the other options beside `how`
 * @throws {UsageError} one of them is invalid, or they exclude each other
 */
function readHow({ delay = 0, fault: kind, after, rate, ...others }) {
  const fault = readFault(kind, after);
  const delayMs = typeof delay === "number" ? Math.ceil(delay) : NaN;
  if (!Number.isSafeInteger(delayMs) || delayMs < 0) {
    throw new UsageError(`delay is milliseconds, 0 or more, not ${JSON.stringify(delay)}`);
  }
  if (rate !== undefined && fault) throw new UsageError("rate excludes fault");
  if (rate !== undefined && (!Number.isSafeInteger(rate) || rate < 1)) {
    throw new UsageError(`rate is a number of bytes in a second, 1 or more, not ${JSON.stringify(rate)}`);
  }
  const how = { ...(delayMs && { delayMs }), ...(fault && { fault }), ...(rate && { rate }) };
  return /** @type {any} */ ({ ...others, how });
}

/**
 * @param {string | undefined} kind
 * @param {number | undefined} after
 */
function readFault(kind, after) {
  if (kind === undefined) {
    if (after === undefined) return undefined;
    throw new UsageError("after is the number of bytes before a fault, and there is no fault");
  }
  if (!FAULTS.includes(kind)) {
    const near = suggestion(String(kind), FAULTS);
    const hint = near ? `did you mean ${JSON.stringify(near)}? The faults` : "the faults";
    throw new UsageError(`fault: ${JSON.stringify(kind)} is unknown; ${hint} are: ${FAULTS.join(", ")}`);
  }
  if (after === undefined) return { kind };
  if (kind === "empty_response") {
    throw new UsageError("empty_response has no body, so nothing comes after a part of it");
  }
  if (!Number.isSafeInteger(after) || after < 0) {
    throw new UsageError(`after is a number of bytes, 0 or more, not ${JSON.stringify(after)}`);
  }
  return { kind, after };
}

/**
 * @param {string} code of Playwright
 * @returns {string} the code of protocol 3
 * @throws {UsageError} another code
 */
function abortCode(code) {
  if (!Object.hasOwn(PLAYWRIGHT_CODES, code)) {
    const known = Object.keys(PLAYWRIGHT_CODES).join(", ");
    throw new UsageError(`abort: ${JSON.stringify(code)} is not an error code of Playwright; these are: ${known}`);
  }
  return PLAYWRIGHT_CODES[code];
}

module.exports = { abortCode, readAnswers, readHow };
