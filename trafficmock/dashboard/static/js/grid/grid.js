// @ts-check
/**
 * A list of any length, in which only visible rows have elements. New rows do not move the visible
 * ones, except at the top of the list without a current row (the cursor), where the list follows the
 * newest.
 *
 * @typedef {import("../data/rows.js").Row} Row
 * @typedef {object} Column
 * @property {string} name for its class, `col-name`
 * @property {string} title
 * @property {(cell: HTMLElement, row: Row, range: import("./range.js").Range) => void} show
 * @property {boolean} [ranged] whether `show` uses the time range of the visible rows
 * @property {(row: Row) => string | number | undefined} by returns the sort key
 * @property {boolean} [descendingFirst] whether the first click sorts in descending order
 * @property {number} least minimum width in rem
 * @property {number} [most] width in rem if there is room
 * @property {number} [grow] share of the remaining room, instead of `most`
 * @property {number} [drop] the order in which columns are hidden if there is no room; none: never
 */

import { h } from "../lib/dom.js";
import { Head, remPixels } from "./head.js";
import { Lines } from "./lines.js";
import { rangeOf } from "./range.js";

const OVERSCAN = 8;
const ROW_PADDING = 12; // pixels, both sides together

export class Grid {
  /**
   * @param {object} options
   * @param {string} options.label
   * @param {import("./layout.js").Layout} options.layout
   * @param {(row: Row) => void} options.onopen the detail of a row is to be opened
   * @param {(row: Row) => void} options.oncursor the current row has changed
   * @param {(count: number) => void} options.onunseen the number of new rows above the visible ones
   */
  constructor({ label, layout, onopen, oncursor, onunseen }) {
    this.layout = layout;
    this.onopen = onopen;
    this.oncursor = oncursor;
    this.onunseen = onunseen;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, number>} */
    this.indexOf = new Map();
    this.cursor = "";
    this.unseen = 0;
    this.range = { from: 0, to: 1 };
    this.shownColumns = "";
    this.head = new Head(layout);
    this.body = h("div", { role: "rowgroup", class: "grid-body" });
    this.lines = new Lines(this.body);
    this.element = h(
      "div",
      {
        role: "grid",
        class: "grid",
        tabindex: 0,
        "aria-label": label,
        onscroll: () => this.scrolled(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
        onclick: (/** @type {MouseEvent} */ event) => this.clicked(event),
      },
      h("div", { role: "rowgroup", class: "grid-top" }, this.head.element),
      this.body,
    );
    this.fit();
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  /** Show the columns that fit, with their widths. */
  fit() {
    const room = (this.element.clientWidth - ROW_PADDING) / remPixels();
    const columns = this.layout.fitting(room > 0 ? room : Infinity);
    const names = columns.map(({ name }) => name).join(" ");
    this.element.classList.toggle("without-host", !columns.some(({ name }) => name === "host"));
    if (names !== this.shownColumns) {
      this.shownColumns = names;
      this.head.show(columns);
      this.lines.reset(columns);
      this.element.setAttribute("aria-colcount", String(columns.length));
    } else this.head.mark();
    this.element.style.setProperty("--columns", this.layout.template(columns));
    this.element.style.setProperty("--least", `calc(${this.layout.least(columns)}rem + ${ROW_PADDING}px)`);
    this.draw();
  }

  /** The height of a row in pixels, which depends on the size of the text. */
  get rowHeight() {
    return this.head.element.offsetHeight || 28;
  }

  /**
   * Set the rows.
   *
   * @param {Row[]} rows
   * @param {{fresh?: boolean}} [how] `fresh`: the filter has changed, so scroll to the current row
   */
  setRows(rows, { fresh = false } = {}) {
    const height = this.rowHeight;
    const top = this.element.scrollTop;
    const first = Math.floor(top / height);
    const anchored = !fresh && (top > 0 || this.cursor !== "");
    const anchor = anchored ? this.anchor(rows, first) : null;
    this.rows = rows;
    this.indexOf = new Map(rows.map((row, index) => [row.id, index]));
    this.element.setAttribute("aria-rowcount", String(rows.length + 1));
    this.body.style.height = `${rows.length * height}px`;
    if (anchor) {
      const moved = (this.indexOf.get(anchor.id) ?? 0) - anchor.index;
      if (moved) this.element.scrollTop = top + moved * height;
      if (moved > 0) this.see(this.unseen + moved);
    } else if (fresh) {
      this.see(0);
      if (!this.reveal()) this.element.scrollTop = 0;
    }
    this.draw();
  }

  /**
   * Find a visible row that is also in the next rows.
   *
   * @param {Row[]} next
   * @param {number} first
   */
  anchor(next, first) {
    const staying = new Set(next.map((row) => row.id));
    for (let index = first; index < this.rows.length; index++) {
      const { id } = this.rows[index];
      if (staying.has(id)) return { id, index };
    }
    return null;
  }

  /** @param {number} count */
  see(count) {
    if (count === this.unseen) return;
    this.unseen = count;
    this.onunseen(count);
  }

  scrolled() {
    if (this.element.scrollTop < this.rowHeight) this.see(0);
    this.draw();
  }

  /** Make the elements of the visible rows. */
  draw() {
    const height = this.rowHeight;
    const first = Math.max(0, Math.floor(this.element.scrollTop / height) - OVERSCAN);
    const most = Math.ceil(this.element.clientHeight / height) + 2 * OVERSCAN;
    const last = Math.min(this.rows.length, first + most);
    const sight = Math.ceil((this.element.scrollTop + this.element.clientHeight) / height) - 1;
    const start = Math.floor(this.element.scrollTop / height);
    this.range = rangeOf(this.rows, start, Math.min(this.rows.length, Math.max(start + 1, sight)), this.range);
    this.lines.draw(this.rows, { first, last, height, cursor: this.cursor, range: this.range });
    const chosen = this.lines.shown.get(this.indexOf.get(this.cursor) ?? -1);
    if (chosen) this.element.setAttribute("aria-activedescendant", chosen.element.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const element = /** @type {Element} */ (event.target).closest("[aria-rowindex]");
    const index = Number(element?.getAttribute("aria-rowindex")) - 2;
    const row = this.rows[index];
    if (!row) return;
    this.take(row.id);
    this.onopen(row);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 2);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      this.element.focus({ preventScroll: true }); // the head of a column may have the focus
      this.move(steps[event.key]);
    } else if (event.key === "Enter" && this.rows[this.indexOf.get(this.cursor) ?? -1]) {
      this.onopen(this.rows[this.indexOf.get(this.cursor) ?? 0]);
    } else return;
    event.preventDefault();
  }

  /** Make another row the current one. @param {number} step rows downward */
  move(step) {
    if (!this.rows.length) return;
    const now = this.indexOf.get(this.cursor);
    const first = Math.ceil(this.element.scrollTop / this.rowHeight);
    const wanted = now === undefined && Number.isFinite(step) ? first : (now ?? 0) + step;
    const row = this.rows[Math.min(this.rows.length - 1, Math.max(0, wanted))];
    this.take(row.id);
    this.oncursor(row);
  }

  /** Set the current row. @param {string} id empty for none */
  take(id) {
    this.cursor = id;
    this.reveal();
    this.draw();
  }

  /** Scroll to the current row. @returns {boolean} whether there is one */
  reveal() {
    const index = this.indexOf.get(this.cursor);
    if (index === undefined) return false;
    const height = this.rowHeight;
    const room = this.element.clientHeight - height;
    const top = this.element.scrollTop;
    if (index * height < top) this.element.scrollTop = index * height;
    else if ((index + 1) * height > top + room) this.element.scrollTop = (index + 1) * height - room;
    return true;
  }

  /** Scroll to the newest row, and follow new ones. */
  toTop() {
    this.element.scrollTop = 0;
    this.see(0);
    this.draw();
  }
}
