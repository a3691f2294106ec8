// @ts-check
/** What stands at the top of every entry's detail. */

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
 * The title where the proxy has no such entry.
 *
 * @param {() => void} onclose
 */
export function noEntry(onclose) {
  return h("div", { class: "detail-title" }, h("strong", {}, "No entry"), closeButton(onclose));
}
