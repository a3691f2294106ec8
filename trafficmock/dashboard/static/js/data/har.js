// @ts-check
/** Many recorded requests as one HAR file, put together from those that the proxy gives of each. */

import { ApiError, ask, entryPath } from "./api.js";

/** @typedef {import("./rows.js").Row} Row */

/**
 * Requests in one file at most. Fixed: each is a question to the proxy of its own, and ten times as
 * many as the proxy keeps by default (`--history-limit`) are enough for one file.
 */
export const MOST_ENTRIES = 10_000;

/**
 * Characters in one file at most. Fixed: the browser keeps them until the file is saved, and it, not
 * the user, bounds how much that may be. Twice what the proxy keeps by default (`--history-bytes`).
 */
export const MOST_CHARACTERS = 256_000_000;

const AT_ONCE = 4;

/**
 * @typedef {object} Har
 * @property {Blob} file
 * @property {number} entries that it has
 * @property {number} without requests that have no response, and so no HAR
 * @property {number} gone requests that the proxy has dropped meanwhile
 * @property {number} beyond requests that were left out because the file would be too large
 */

/** A HAR file that grows. Its parts are blobs, so the browser need not keep them as text. */
class HarFile {
  constructor() {
    this.head = { version: "1.2", creator: { name: "trafficmock", version: "" } };
    /** @type {Blob[]} */
    this.parts = [];
    this.characters = 0;
    this.found = { entries: 0, without: 0, gone: 0, beyond: 0 };
  }

  /** @param {any} answer a HAR, or why there is none */
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
 * @returns {Promise<any | "without" | "gone">} a HAR, or why there is none
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
