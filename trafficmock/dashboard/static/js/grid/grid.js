// @ts-check
/**
 * A list of any length: only the rows in sight are elements. New rows never move what is
 * being read; whoever stands at the top without a row in hand follows the newest.
 *
 * @typedef {import("../data/rows.js").Row} Row
 * @typedef {object} Column
 * @property {string} name for its class, `col-name`
 * @property {string} title
 * @property {(cell: HTMLElement, row: Row) => void} show
 */

import { h } from "../lib/dom.js";

const OVERSCAN = 8;

/** @typedef {{element: HTMLElement, cells: HTMLElement[], row: Row | null, index: number, chosen: boolean}} Line */

export class Grid {
  /**
   * @param {object} options
   * @param {string} options.label
   * @param {Column[]} options.columns
   * @param {(row: Row) => void} options.onopen a row is wanted in detail
   * @param {(row: Row) => void} options.oncursor another row is in hand
   * @param {(count: number) => void} options.onunseen so many new rows are above
   */
  constructor({ label, columns, onopen, oncursor, onunseen }) {
    this.columns = columns;
    this.onopen = onopen;
    this.oncursor = oncursor;
    this.onunseen = onunseen;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, number>} */
    this.indexOf = new Map();
    this.cursor = "";
    this.unseen = 0;
    /** @type {Map<number, Line>} */
    this.lines = new Map();
    /** @type {Line[]} */
    this.spare = [];
    this.prefix = `g${Math.random().toString(36).slice(2, 8)}-`;
    this.head = h("div", { role: "row", class: "grid-row grid-head", "aria-rowindex": 1 },
      ...columns.map((column) => h("span", { role: "columnheader", class: `cell col-${column.name}` }, column.title)));
    this.body = h("div", { role: "rowgroup", class: "grid-body" });
    this.element = h("div", {
      role: "grid", class: "grid", tabindex: 0, "aria-label": label, "aria-colcount": columns.length,
      onscroll: () => this.scrolled(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onclick: (/** @type {MouseEvent} */ event) => this.clicked(event),
    }, h("div", { role: "rowgroup", class: "grid-top" }, this.head), this.body);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Pixels of a row; it grows with the text. */
  get rowHeight() {
    return this.head.offsetHeight || 28;
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
    for (const [index, line] of this.lines) {
      if (index < first || index >= last) {
        this.lines.delete(index);
        this.spare.push(line);
      }
    }
    for (let index = first; index < last; index++) this.drawLine(index, height);
    for (const line of this.spare.splice(0)) line.element.remove();
    const chosen = this.lines.get(this.indexOf.get(this.cursor) ?? -1);
    if (chosen) this.element.setAttribute("aria-activedescendant", chosen.element.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index @param {number} height */
  drawLine(index, height) {
    const row = this.rows[index];
    const chosen = row.id === this.cursor;
    let line = this.lines.get(index);
    if (!line) {
      line = this.spare.pop() ?? this.newLine();
      this.lines.set(index, line);
      line.index = -1;
      const before = this.lines.get(index - 1); // elements stand in the order of the rows
      if (before) before.element.after(line.element);
      else this.body.prepend(line.element);
    }
    if (line.index !== index) {
      line.element.style.transform = `translateY(${index * height}px)`;
      line.element.setAttribute("aria-rowindex", String(index + 2));
      line.element.id = this.prefix + index;
      line.element.classList.toggle("odd", index % 2 === 1);
      line.index = index;
    }
    if (line.chosen !== chosen) {
      line.element.setAttribute("aria-selected", String(chosen));
      line.chosen = chosen;
    }
    if (line.row === row) return;
    line.row = row;
    line.element.classList.toggle("failed", row.failed);
    const { cells } = line;
    this.columns.forEach((column, at) => column.show(cells[at], row));
  }

  /** @returns {Line} */
  newLine() {
    const cells = this.columns.map((column) => h("span", { role: "gridcell", class: `cell col-${column.name}` }));
    const element = h("div", { role: "row", class: "grid-row", "aria-selected": "false" }, ...cells);
    return { element, cells, row: null, index: -1, chosen: false };
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
    if (event.key in steps) this.move(steps[event.key]);
    else if (event.key === "Enter" && this.rows[this.indexOf.get(this.cursor) ?? -1]) {
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
