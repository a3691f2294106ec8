// @ts-check
/** The head of every entry's detail. */

import { h } from "../lib/dom.js";

/** @param {() => void} onclose */
export function closeButton(onclose) {
  return h(
    "button",
    {
      type: "button",
      class: "close quiet",
      "aria-label": "Close the entry",
      title: "Close (Esc)",
      onclick: onclose,
    },
    "✕",
  );
}

/**
 * Make the title for an entry that the proxy does not have.
 *
 * @param {() => void} onclose
 */
export function noEntry(onclose) {
  return h("div", { class: "detail-title" }, h("strong", {}, "No entry"), closeButton(onclose));
}
