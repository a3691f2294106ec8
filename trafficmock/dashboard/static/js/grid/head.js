// @ts-check
/**
 * The heads of the columns. Each is a button that sorts the rows; dragging its edge changes the width
 * of the column. The Tab key stops once for all heads: arrow keys move between them, and change the
 * width with Shift.
 *
 * @typedef {import("./grid.js").Column} Column
 * @typedef {import("./layout.js").Layout} Layout
 */

import { h } from "../lib/dom.js";
import { say } from "../lib/say.js";

const STEP = 1;

export class Head {
  /** @param {Layout} layout */
  constructor(layout) {
    this.layout = layout;
    this.element = h("div", {
      role: "row",
      class: "grid-row grid-head",
      "aria-rowindex": 1,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
    /** @type {Column[]} */
    this.columns = [];
    this.current = "";
  }

  /** @param {Column[]} columns the visible ones */
  show(columns) {
    const focused = this.element.contains(document.activeElement);
    this.columns = columns;
    if (!columns.some(({ name }) => name === this.current)) this.current = columns[0].name;
    this.element.replaceChildren(...columns.map((column) => this.cell(column)));
    this.mark();
    if (focused) this.button(this.current)?.focus();
  }

  /** @param {Column} column */
  cell(column) {
    const title = `Order by ${column.title.toLowerCase()}; with Shift, ← and → change the width`;
    return h(
      "span",
      { role: "columnheader", class: `cell col-${column.name}`, "data-name": column.name },
      h(
        "button",
        {
          type: "button",
          class: "order",
          title,
          tabindex: -1,
          "aria-keyshortcuts": "Shift+ArrowLeft Shift+ArrowRight",
          onclick: () => this.layout.sortBy(column),
          onfocus: () => this.take(column.name),
        },
        column.title,
      ),
      h("span", {
        class: "handle",
        "aria-hidden": "true",
        title: "Drag to change the width; a double click resets it",
        onpointerdown: (/** @type {PointerEvent} */ event) => this.grab(event, column),
        ondblclick: () => this.layout.resize(column.name, null),
      }),
    );
  }

  /** Mark the column by which rows are sorted, and make the current head the Tab stop. */
  mark() {
    const { sort } = this.layout;
    for (const cell of this.element.children) {
      const name = cell.getAttribute("data-name");
      if (name === sort.column) cell.setAttribute("aria-sort", sort.descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      /** @type {HTMLElement} */ (cell.firstElementChild).tabIndex = name === this.current ? 0 : -1;
    }
  }

  /** @param {string} name @returns {HTMLElement | null} */
  button(name) {
    return this.element.querySelector(`[data-name="${name}"] button`);
  }

  /** @param {string} name */
  take(name) {
    this.current = name;
    this.mark();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = this.columns.findIndex(({ name }) => name === this.current);
    /** @type {Record<string, number>} */
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.columns.length - 1 };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") return event.stopPropagation(); // keys of the button
    if (!(event.key in places)) return;
    event.preventDefault();
    event.stopPropagation();
    const place = places[event.key];
    const next = this.columns[Math.min(this.columns.length - 1, Math.max(0, place))];
    if (!event.shiftKey) this.button(next.name)?.focus();
    else if (event.key.startsWith("Arrow")) this.widen(this.columns[at], (place - at) * STEP);
  }

  /** @param {Column} column @param {number} by rem */
  widen(column, by) {
    this.layout.resize(column.name, this.widthOf(column) + by);
    say(`${column.title}: ${Math.round(this.widthOf(column) * remPixels())} pixels wide`);
  }

  /** @param {Column} column @returns {number} rem */
  widthOf(column) {
    const cell = /** @type {HTMLElement} */ (this.button(column.name)?.parentElement);
    return cell.getBoundingClientRect().width / remPixels();
  }

  /** @param {PointerEvent} event @param {Column} column */
  grab(event, column) {
    event.preventDefault();
    const handle = /** @type {HTMLElement} */ (event.currentTarget);
    const start = this.widthOf(column) - event.clientX / remPixels();
    handle.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ moved) =>
      this.layout.resize(column.name, start + moved.clientX / remPixels());
    const end = () => handle.removeEventListener("pointermove", move);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", end, { once: true });
  }
}

/** @returns {number} the pixels of one rem, which depend on the size of the text */
export function remPixels() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
}
