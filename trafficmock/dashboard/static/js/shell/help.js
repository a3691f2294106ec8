// @ts-check
/** The list of shortcuts, with a switch for those of single keys. */

import { ACTIONS, actionClass } from "../data/actions.js";
import { TITLES, VIEWS } from "../lib/address.js";
import { h } from "../lib/dom.js";
import { remember, remembered } from "../lib/settings.js";

/** @type {[string, string][]} */
const KEYS = [
  [VIEWS.map((_, at) => at + 1).join(" "), VIEWS.map((name) => TITLES[name]).join(", ")],
  ["↑ ↓  j k", "Previous and next entry"],
  ["Page ↑ ↓, Home, End", "Further in the list"],
  ["Enter", "Open the entry"],
  ["Esc", "Close the entry; leave the filter"],
  ["/", "Go to the filter"],
  ["x", "Clear all filters"],
  ["n", "Go to the newest, newest first, and follow"],
  ["← →, with Shift", "On the head of a column: the next one, its width"],
  ["[  ]", "Previous and next tab of the entry"],
  ["c", "Copy the request as cURL"],
  ["p", "Pause, or go on"],
  ["t", "Light, dark, or the system's theme"],
  ["?", "This help"],
];

export function singleKeys() {
  return remembered("single-keys") !== "off";
}

/** @returns {() => void} opens the list */
export function makeHelp() {
  const off = h("input", { type: "checkbox", onchange: () => remember("single-keys", off.checked ? null : "off") });
  const dialog = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keys"),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        ...KEYS.map(([keys, what]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, keys)), h("td", {}, what))),
      ),
    ),
    h("label", { class: "check" }, off, "Single letters and digits are keys (turn off if you dictate)"),
    h("h2", {}, "What can become of a request"),
    h(
      "dl",
      { class: "legend" },
      ...Object.entries(ACTIONS).flatMap(([name, { word, meaning }]) => [
        h("dt", {}, h("span", { class: `badge ${actionClass(name)}` }, word)),
        h("dd", {}, meaning),
      ]),
    ),
    h("form", { method: "dialog" }, h("button", { onclick: () => dialog.close(), type: "button" }, "Close")),
  );
  document.body.append(dialog);
  return () => {
    off.checked = singleKeys();
    dialog.showModal();
  };
}
