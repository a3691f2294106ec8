// @ts-check
/** Short notes about actions, also for screen readers. */

import { byId } from "./dom.js";

/** @type {number | undefined} */
let timer;

/** @param {string} text */
export function say(text) {
  byId("said").textContent = text;
  const toast = byId("toast");
  toast.textContent = text;
  toast.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => toast.classList.remove("shown"), 2500);
}

/**
 * Copy text to the clipboard, and show a note.
 *
 * @param {Promise<string>} text if it fails, nothing is copied, and this fails likewise
 * @param {string} what as in "Copied: what"
 */
export async function copy(text, what) {
  const blob = text.then((given) => new Blob([given], { type: "text/plain" }));
  try {
    // The item is given before its text has come, while the browser knows that a person has pressed a button.
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    say(`Copied: ${what}`);
  } catch {
    say(selectedCopy(await text) ? `Copied: ${what}` : "The browser does not let this page copy.");
  }
}

/** Copy without the Clipboard API, which pages over http have on loopback only. @param {string} text */
function selectedCopy(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr-only";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
