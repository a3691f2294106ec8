// @ts-check
/** What copies and saved files get of an entry: marks in place of its secrets, unless a person wants them. */

import { ApiError, ask, entryPath } from "../data/api.js";
import { run } from "../data/saved.js";
import { h } from "../lib/dom.js";
import { copy, say } from "../lib/say.js";

/** The records of an entry in an answer of the proxy, by list. */
const KEYS = { history: "entry", ws: "connection" };

/** Whether copies have the secrets. It is not remembered: a page begins without them. */
let exact = false;

/** @returns {boolean} whether copies have the secrets */
export const isExact = () => exact;

/** @returns {HTMLElement | false} the switch for secrets; none in a saved page, which has only what was written */
export function secretsSwitch() {
  if (run) return false;
  const box = h("input", { type: "checkbox", onchange: () => (exact = box.checked) });
  box.checked = exact;
  const title = "Copies, and files that this page saves, have marks in place of secrets unless this is checked";
  return h("label", { class: "check", title }, box, "with secrets");
}

/**
 * Return an entry as it may be written.
 *
 * @template {{id: string}} T
 * @param {"history" | "ws"} list
 * @param {T} entry as the page shows it
 * @returns {Promise<T>}
 * @throws {ApiError} the proxy does not have the entry any more, or does not answer
 */
export async function written(list, entry) {
  if (exact || run) return entry;
  const [service, marked] = await Promise.all([ask("/api/redaction"), ask(`${entryPath(list, entry.id)}?redact=on`)]);
  return service?.body.fields.includes("off") ? entry : marked?.body[KEYS[list]];
}

/**
 * Copy a part of an entry, or say why it cannot be had.
 *
 * @param {Promise<string>} part
 * @param {string} what as in "Copied: what"
 */
export async function copyPart(part, what) {
  await unlessGone(copy(part, what), "copied");
}

/**
 * Do something with a part of an entry, or say why it cannot be had.
 *
 * @param {Promise<void>} deed
 * @param {string} done what would have been done: "copied", "saved"
 */
export async function unlessGone(deed, done) {
  try {
    await deed;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const why = error.code === "not_found" ? "The proxy does not have this entry any more." : error.message;
    say(`Nothing was ${done}: ${why}`);
  }
}
