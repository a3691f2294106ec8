"use strict";

const { withoutColours } = require("./test-record.js");

/**
 * What the servers of the configuration (`webServer`) write, which Playwright tells reporters of without a test. It is attached
 * to the tests that fail meanwhile.
 */

/** How much is kept, the newest; characters. */
const KEPT = 256 * 1024;
/** How many lines of it are attached, the last ones. */
const MOST_LINES = 60;

class ServerOutput {
  /** @type {{ at: number, text: string }[]} */
  #chunks = [];
  #length = 0;

  /**
   * @param {string | Buffer} chunk
   * @param {number} [at] epoch ms
   */
  add(chunk, at = Date.now()) {
    const text = withoutColours(String(chunk));
    this.#chunks.push({ at, text });
    this.#length += text.length;
    while (this.#length > KEPT && this.#chunks.length > 1) {
      this.#length -= /** @type {{ text: string }} */ (this.#chunks.shift()).text.length;
    }
  }

  /**
   * @param {number} at epoch ms
   * @returns {string} the last lines that were written since then
   */
  since(at) {
    const text = this.#chunks.filter((each) => each.at >= at).map((each) => each.text);
    const lines = text.join("").trimEnd().split("\n");
    const left = lines.length - MOST_LINES;
    return [...(left > 0 ? [`(${left} lines before)`] : []), ...lines.slice(-MOST_LINES)].join("\n");
  }
}

module.exports = { ServerOutput };
