// @ts-check
/**
 * The layout of a list: the columns that fit, their widths, and the sort order. Changes of the user
 * are stored in the browser. All widths are in rem, so they grow with the text.
 *
 * @typedef {import("./grid.js").Column} Column
 * @typedef {{column: string, descending: boolean}} Sort
 */

import { remember, remembered } from "../lib/settings.js";

const LEAST = 2.5;
const MOST = 100;

/** The default order. @type {Sort} */
export const NEWEST_FIRST = { column: "time", descending: true };

export class Layout {
  /**
   * @param {object} options
   * @param {string} options.name the key in the browser's storage
   * @param {Column[]} options.columns all columns of the list
   * @param {() => void} options.onchange
   */
  constructor({ name, columns, onchange }) {
    this.name = `columns.${name}`;
    this.columns = columns;
    this.onchange = onchange;
    /** Widths that the user chose, by column. @type {Map<string, number>} */
    this.widths = new Map();
    this.sort = NEWEST_FIRST;
    this.recall(remembered(this.name));
  }

  get isDefault() {
    return this.widths.size === 0 && this.sort === NEWEST_FIRST;
  }

  /**
   * Choose the columns that fit into a width, by their `drop`. Widths that the user increased are not
   * counted; with them the list scrolls sideways.
   *
   * @param {number} room in rem
   * @returns {Column[]}
   */
  fitting(room) {
    let shown = this.columns;
    const order = ({ drop = 0 }) => drop;
    const going = this.columns.filter(order).sort((one, other) => order(one) - order(other));
    for (const column of going) {
      if (shown.reduce((sum, { least }) => sum + least, 0) <= room) break;
      shown = shown.filter((other) => other !== column);
    }
    return shown;
  }

  /** @param {Column[]} shown @returns {string} for `grid-template-columns` */
  template(shown) {
    return shown
      .map(({ name, least, most, grow }) => {
        const width = this.widths.get(name);
        if (width !== undefined) return `${width}rem`;
        return `minmax(${least}rem, ${grow === undefined ? `${most ?? least}rem` : `${grow}fr`})`;
      })
      .join(" ");
  }

  /** @param {Column[]} shown @returns {number} the width below which the list scrolls sideways */
  least(shown) {
    return shown.reduce((sum, { name, least }) => sum + (this.widths.get(name) ?? least), 0);
  }

  /** @param {string} column @param {number | null} width in rem; `null` for the default */
  resize(column, width) {
    if (width === null) this.widths.delete(column);
    else this.widths.set(column, Math.round(Math.min(MOST, Math.max(LEAST, width)) * 100) / 100);
    this.keep();
  }

  /**
   * Sort by a column; at the next call in the other direction, then newest first again.
   *
   * @param {Column} column
   */
  sortBy(column) {
    const first = column.descendingFirst ?? false;
    const { sort } = this;
    if (sort.column !== column.name) this.sort = { column: column.name, descending: first };
    else if (sort.descending === first) this.sort = { column: column.name, descending: !first };
    else this.sort = NEWEST_FIRST;
    this.keep();
  }

  newestFirst() {
    if (this.sort === NEWEST_FIRST) return;
    this.sort = NEWEST_FIRST;
    this.keep();
  }

  reset() {
    this.widths.clear();
    this.sort = NEWEST_FIRST;
    this.keep();
  }

  keep() {
    if (this.sort.column === NEWEST_FIRST.column && this.sort.descending) this.sort = NEWEST_FIRST;
    const kept = { widths: Object.fromEntries(this.widths), sort: this.sort };
    remember(this.name, this.isDefault ? null : JSON.stringify(kept));
    this.onchange();
  }

  /**
   * Read the stored layout, as far as it is valid: another version may have written it.
   *
   * @param {string | null} text
   */
  recall(text) {
    const { widths = {}, sort } = parsed(text);
    for (const { name } of this.columns) {
      const width = widths?.[name];
      if (typeof width === "number" && width >= LEAST && width <= MOST) this.widths.set(name, width);
    }
    if (this.columns.some(({ name }) => name === sort?.column)) {
      this.sort = { column: sort.column, descending: Boolean(sort.descending) };
    }
  }
}

/** @param {string | null} text @returns {any} an object */
function parsed(text) {
  try {
    return Object(JSON.parse(text ?? "{}"));
  } catch {
    return {}; // not written by this page
  }
}
