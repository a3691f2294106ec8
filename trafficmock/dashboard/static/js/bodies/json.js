// @ts-check
/** Shows JSON as a tree. Elements are made only for unfolded parts. */

import { h } from "../lib/dom.js";
import { cut, oneLine } from "../lib/text.js";

const CHILDREN_AT_ONCE = 100;
const LONGEST_TEXT = 2000;
const OPEN_AT_FIRST = 60;

/** A number that JavaScript would round, as the digits in the text. */
class Digits {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/**
 * Parse JSON, and keep the digits of numbers that JavaScript would round.
 *
 * @param {string} text
 * @returns {{value: any} | null} `null` if the text is not JSON
 */
export function readJson(text) {
  /** @param {string} _ @param {any} value @param {{source?: string}} [context] */
  const exact = (_, value, context) =>
    typeof value === "number" && context?.source && String(value) !== context.source && !Number.isSafeInteger(value)
      ? new Digits(context.source)
      : value;
  try {
    return { value: JSON.parse(text, /** @type {any} */ (exact)) };
  } catch {
    return null;
  }
}

/** @param {any} value */
const isBranch = (value) => typeof value === "object" && value !== null && !(value instanceof Digits);

/** @param {any} value */
function leaf(value) {
  if (value instanceof Digits) return h("span", { class: "json-number" }, value.text);
  if (typeof value === "string") return h("span", { class: "json-string" }, `"${oneLine(cut(value, LONGEST_TEXT))}"`);
  return h("span", { class: `json-${value === null ? "null" : typeof value}` }, String(value));
}

/** @param {any} value */
function summary(value) {
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  return Array.isArray(value) ? `[ ${count} ]` : `{ ${count} }`;
}

/**
 * @param {any} value
 * @param {boolean} [open] whether a small tree is unfolded at first
 * @returns {HTMLElement}
 */
export function jsonTree(value, open = true) {
  const budget = { left: open ? OPEN_AT_FIRST : 1 };
  return h("div", { class: "json" }, line("", value, budget));
}

/** @param {string | number} key @param {any} value @param {{left: number}} budget @returns {HTMLElement} */
function line(key, value, budget) {
  const name =
    key === ""
      ? null
      : h(
          "span",
          { class: "json-key" },
          typeof key === "number" ? String(key) : oneLine(cut(key, 200)),
          h("span", { class: "json-colon" }, ": "),
        );
  if (!isBranch(value)) return h("div", { class: "json-line" }, name, leaf(value));
  return branch(name, value, budget);
}

/** @param {HTMLElement | null} name @param {any} value @param {{left: number}} budget */
function branch(name, value, budget) {
  const list = h("div", { class: "json-children" });
  const button = h(
    "button",
    { type: "button", class: "json-fold", "aria-expanded": "false" },
    name,
    h("span", { class: "json-summary" }, summary(value)),
  );
  let filled = false;
  const set = (/** @type {boolean} */ open) => {
    if (open && !filled) {
      filled = true;
      children(list, value, budget, 0);
    }
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  };
  button.addEventListener("click", () => set(button.getAttribute("aria-expanded") !== "true"));
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  const open = budget.left > 0 && size > 0;
  budget.left -= size;
  set(open);
  return h("div", { class: "json-branch" }, button, list);
}

/** @param {HTMLElement} list @param {any} value @param {{left: number}} budget @param {number} from */
function children(list, value, budget, from) {
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  for (const key of keys.slice(from, from + CHILDREN_AT_ONCE)) {
    list.append(line(key === "" ? '""' : key, value[key], budget));
  }
  const next = from + CHILDREN_AT_ONCE;
  if (next >= keys.length) return;
  const more = h(
    "button",
    {
      type: "button",
      class: "more",
      onclick: () => {
        more.remove();
        children(list, value, { left: 0 }, next);
      },
    },
    `${(keys.length - next).toLocaleString("en")} more`,
  );
  list.append(more);
}

/** Fold or unfold all parts whose elements exist. @param {HTMLElement} tree @param {boolean} open */
export function foldAll(tree, open) {
  const wanted = `.json-fold[aria-expanded="${!open}"]`;
  for (let round = 0; round < (open ? 20 : 1); round++) {
    const found = [...tree.querySelectorAll(wanted)].slice(0, 500);
    if (!found.length) return;
    for (const button of found) /** @type {HTMLElement} */ (button).click();
  }
}
