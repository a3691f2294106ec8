// @ts-check
/** Merges the HARs of many recorded requests into one file; the proxy sends one for each request. */

import { ApiError, ask, entryPath } from "./api.js";

/** @typedef {import("./rows.js").Row} Row */

/**
 * The most requests in one file: ten times as many as the proxy keeps by default (`--history-limit`).
 * It is fixed, because each takes a request to the proxy.
 */
export const MOST_ENTRIES = 10_000;

/**
 * The most characters in one file: twice the bytes that the proxy keeps by default (`--history-bytes`).
 * It is fixed, because the browser's memory is the limit, which holds the file until it is saved.
 */
export const MOST_CHARACTERS = 256_000_000;

const AT_ONCE = 4;

/**
 * @typedef {object} Har
 * @property {Blob} file
 * @property {number} entries in the file
 * @property {number} without requests that have no response, and so no HAR
 * @property {number} gone requests that the proxy has dropped meanwhile
 * @property {number} beyond requests that were left out because the file would be too large
 */

/** Collects a HAR file. Its parts are blobs, which the browser can store outside of its memory. */
class HarFile {
  constructor() {
    this.head = { version: "1.2", creator: { name: "trafficmock", version: "" } };
    /** @type {Blob[]} */
    this.parts = [];
    this.characters = 0;
    this.found = { entries: 0, without: 0, gone: 0, beyond: 0 };
  }

  /** @param {any} answer a HAR, or the reason why there is none */
  add(answer) {
    if (answer === "without" || answer === "gone") {
      this.found[/** @type {"without" | "gone"} */ (answer)]++;
      return;
    }
    const { entries, ...head } = answer.log;
    this.head = head;
    const text = entries.map((/** @type {any} */ entry) => JSON.stringify(entry)).join(",\n");
    this.characters += text.length;
    this.parts.push(new Blob([this.parts.length ? ",\n" : "", text]));
    this.found.entries += entries.length;
  }

  /** @returns {Har} */
  finish() {
    const start = `{"log":${JSON.stringify(this.head).slice(0, -1)},"entries":[\n`;
    return { ...this.found, file: new Blob([start, ...this.parts, "\n]}}\n"], { type: "application/json" }) };
  }
}

/**
 * Collect the HAR of each row, oldest first.
 *
 * @param {Row[]} rows newest first
 * @param {{signal: AbortSignal, onprogress: (done: number, all: number) => void}} how
 * @returns {Promise<Har>}
 * @throws {ApiError} the proxy does not answer
 */
export async function collectHar(rows, { signal, onprogress }) {
  const answered = rows.filter(({ status }) => status !== undefined).reverse();
  const wanted = answered.slice(-MOST_ENTRIES);
  const file = new HarFile();
  file.found.without = rows.length - answered.length;
  file.found.beyond = answered.length - wanted.length;
  let done = 0;
  while (done < wanted.length && file.characters < MOST_CHARACTERS) {
    const some = wanted.slice(done, done + AT_ONCE);
    for (const answer of await Promise.all(some.map(({ id }) => askHar(id, signal)))) file.add(answer);
    done += some.length;
    onprogress(done, wanted.length);
  }
  file.found.beyond += wanted.length - done;
  return file.finish();
}

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<any | "without" | "gone">} a HAR, or the reason why there is none
 */
async function askHar(id, signal) {
  try {
    return (await ask(`${entryPath("history", id)}/har`, { signal }))?.body;
  } catch (error) {
    if (error instanceof ApiError && error.code === "har_unavailable") return "without";
    if (error instanceof ApiError && error.code === "not_found") return "gone";
    throw error;
  }
}
