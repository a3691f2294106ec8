// @ts-check
/**
 * A list of any length: only the rows in sight are elements. New rows never move what is
 * being read; whoever stands at the top without a row in hand follows the newest.
 *
 * @typedef {import("../data/rows.js").Row} Row
 * @typedef {object} Column
 * @property {string} name for its class, `col-name`
 * @property {string} title
 * @property {(cell: HTMLElement, row: Row, range: import("./range.js").Range) => void} show
 * @property {boolean} [ranged] whether it is drawn on the range of time in sight
 * @property {(row: Row) => string | number | undefined} by what it orders rows by
 * @property {boolean} [descendingFirst] whether the first click puts the largest on top
 * @property {number} least rem that it needs
 * @property {number} [most] rem that it takes when there is room
 * @property {number} [grow] its share of the room that is left, instead of `most`
 * @property {number} [drop] its place among those that go when there is no room; none: it stays
 */

import { h } from "../lib/dom.js";
import { Head, remPixels } from "./head.js";
import { Lines } from "./lines.js";
import { rangeOf } from "./range.js";

const OVERSCAN = 8;
const ROW_PADDING = 12; // pixels, both sides

export class Grid {
  /**
   * @param {object} options
   * @param {string} options.label
   * @param {import("./layout.js").Layout} options.layout
   * @param {(row: Row) => void} options.onopen a row is wanted in detail
   * @param {(row: Row) => void} options.oncursor another row is in hand
   * @param {(count: number) => void} options.onunseen so many new rows are above
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

  /** Show the columns that fit, as wide as they are to be. */
  fit() {
    const room = (this.element.clientWidth - ROW_PADDING) / remPixels();
    const columns = this.layout.fitting(room > 0 ? room : Infinity);
    const names = columns.map(({ name }) => name).join(" ");
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

  /** Pixels of a row; it grows with the text. */
  get rowHeight() {
    return this.head.element.offsetHeight || 28;
  }

  /**
   * Show other rows.
   *
   * @param {Row[]} rows
   * @param {{fresh?: boolean}} [how] `fresh`: another filter, so the place is that of the cursor
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
   * Find a row in sight that stays.
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

  /** Make the elements of the rows in sight. */
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
      this.element.focus({ preventScroll: true }); // it may have been on the head of a column
      this.move(steps[event.key]);
    } else if (event.key === "Enter" && this.rows[this.indexOf.get(this.cursor) ?? -1]) {
      this.onopen(this.rows[this.indexOf.get(this.cursor) ?? 0]);
    } else return;
    event.preventDefault();
  }

  /** Take another row in hand. @param {number} step rows downward */
  move(step) {
    if (!this.rows.length) return;
    const now = this.indexOf.get(this.cursor);
    const first = Math.ceil(this.element.scrollTop / this.rowHeight);
    const wanted = now === undefined && Number.isFinite(step) ? first : (now ?? 0) + step;
    const row = this.rows[Math.min(this.rows.length - 1, Math.max(0, wanted))];
    this.take(row.id);
    this.oncursor(row);
  }

  /** @param {string} id empty: none */
  take(id) {
    this.cursor = id;
    this.reveal();
    this.draw();
  }

  /** Bring the row in hand into sight. @returns {boolean} whether there is one */
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

  /** Go to the newest, and follow. */
  toTop() {
    this.element.scrollTop = 0;
    this.see(0);
    this.draw();
  }
}
