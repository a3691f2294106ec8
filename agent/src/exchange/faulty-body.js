"use strict";

const { MockBody } = require("./mock-body.js");
const { networkError } = require("../protocol/errors.js");

/**
 * How a mock breaks (feature `faults`).
 * @typedef {{ kind: "connection_reset" | "empty_response" | "malformed_chunk" | "stall" | "truncated", after: number }} Fault
 */

/** The body of a mock that breaks: its first bytes, and then the fault. */
class FaultyBody extends MockBody {
  /**
   * @param {Buffer} content the whole body
   * @param {Fault} fault
   * @param {string} url of the request, for the error
   */
  constructor(content, { kind, after }, url) {
    super(content.subarray(0, after));
    const reset = kind === "connection_reset" ? networkError("connectionreset", url) : undefined;
    /** @param {import("./mock-body.js").Reader} reader */
    const breakOff = (reader) => (kind === "malformed_chunk" ? reader.malform() : reader.fail(reset));
    this.finish = kind === "stall" ? undefined : breakOff;
  }
}

module.exports = { FaultyBody };
