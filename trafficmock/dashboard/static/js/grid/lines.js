// @ts-check
/** The elements of the visible rows, which are reused for other rows while scrolling. */

import { h } from "../lib/dom.js";

/**
 * @typedef {import("./grid.js").Column} Column
 * @typedef {import("./range.js").Range} Range
 * @typedef {import("../data/rows.js").Row} Row
 *
 * @typedef {object} Line
 * @property {HTMLElement} element
 * @property {HTMLElement[]} cells
 * @property {Row | null} row
 * @property {Range | null} range of time for which its bar is drawn
 * @property {number} index
 * @property {boolean} chosen
 */

export class Lines {
  /** @param {HTMLElement} body the parent of the elements */
  constructor(body) {
    this.body = body;
    this.prefix = `g${Math.random().toString(36).slice(2, 8)}-`;
    /** @type {Column[]} */
    this.columns = [];
    /** @type {Map<number, Line>} */
    this.shown = new Map();
    /** @type {Line[]} */
    this.spare = [];
  }

  /** Set the columns. @param {Column[]} columns */
  reset(columns) {
    this.columns = columns;
    this.shown.clear();
    this.body.replaceChildren();
  }

  /**
   * Show the elements of some rows, and remove the others.
   *
   * @param {Row[]} rows
   * @param {object} how
   * @param {number} how.first index of the first
   * @param {number} how.last index after the last
   * @param {number} how.height pixels of a row
   * @param {string} how.cursor id of the current row
   * @param {Range} how.range of time, for the bars
   */
  draw(rows, { first, last, height, cursor, range }) {
    for (const [index, line] of this.shown) {
      if (index < first || index >= last) {
        this.shown.delete(index);
        this.spare.push(line);
      }
    }
    this.spare.sort((one, other) => one.index - other.index); // in the order of their elements
    for (let index = first; index < last; index++) {
      const line = this.line(index);
      this.place(line, index, height);
      this.choose(line, rows[index].id === cursor);
      this.fill(line, rows[index], range);
    }
    for (const line of this.spare.splice(0)) line.element.remove();
  }

  /** @param {number} index @returns {Line} */
  line(index) {
    const held = this.shown.get(index);
    if (held) return held;
    const line = this.spare.shift() ?? this.newLine();
    this.shown.set(index, line);
    line.index = -1;
    const before = this.shown.get(index - 1)?.element; // elements are in the order of the rows
    const next = before ? before.nextSibling : this.body.firstChild;
    // The browser computes all styles of a moved element again, so it is moved only if necessary.
    if (next !== line.element) this.body.insertBefore(line.element, next);
    return line;
  }

  /** @returns {Line} */
  newLine() {
    const cells = this.columns.map((column) => h("span", { role: "gridcell", class: `cell col-${column.name}` }));
    const element = h("div", { role: "row", class: "grid-row", "aria-selected": "false" }, ...cells);
    return { element, cells, row: null, range: null, index: -1, chosen: false };
  }

  /** @param {Line} line @param {number} index @param {number} height */
  place(line, index, height) {
    if (line.index === index) return;
    line.element.style.transform = `translateY(${index * height}px)`;
    line.element.setAttribute("aria-rowindex", String(index + 2));
    line.element.id = this.prefix + index;
    line.element.classList.toggle("odd", index % 2 === 1);
    line.index = index;
  }

  /** @param {Line} line @param {boolean} chosen */
  choose(line, chosen) {
    if (line.chosen === chosen) return;
    line.element.setAttribute("aria-selected", String(chosen));
    line.chosen = chosen;
  }

  /** @param {Line} line @param {Row} row @param {Range} range */
  fill(line, row, range) {
    const another = line.row !== row;
    if (!another && line.range === range) return;
    if (another) line.element.classList.toggle("failed", row.failed);
    this.columns.forEach((column, at) => {
      if (another || column.ranged) column.show(line.cells[at], row, range);
    });
    line.row = row;
    line.range = range;
  }
}
