"use strict";

const { MockBody } = require("./mock-body.js");
const { networkError } = require("../protocol/errors.js");

/**
 * What the proxy has the agent do to the body of an answer (feature `faults`): after the first bytes, a fault follows, and
 * slices come with pauses (ms) between them. Without `after`, `truncated` follows half of the body, and others come in the
 * place of the answer.
 *
 * @typedef {"connection_reset" | "empty_response" | "malformed_chunk" | "stall" | "truncated"} Fault
 * @typedef {{ then?: Fault, after?: number, slice?: number, pause?: number }} BodyWay
 */

/** The body of a mock that breaks: its first bytes, and then the fault. */
class FaultyBody extends MockBody {
  /**
   * @param {Buffer} content the whole body
   * @param {BodyWay} way
   * @param {string} url of the request, for the error
   */
  constructor(content, { then, after }, url) {
    super(content.subarray(0, after));
    const reset = then === "connection_reset" ? networkError("connectionreset", url) : undefined;
    /** @param {import("./mock-body.js").Reader} reader */
    const breakOff = (reader) => (then === "malformed_chunk" ? reader.malform() : reader.fail(reset));
    this.finish = then === "stall" ? undefined : breakOff;
  }
}

module.exports = { FaultyBody };
