// @ts-check
/** @typedef {import("./rows.js").Row} Row */

/** The rows of one list, newest first, updated by the proxy's changes. */
export class Collection {
  constructor() {
    /** All rows, with those that were cleared from the page. @type {Row[]} */
    this.all = [];
    /** The rows to show. @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, Row>} */
    this.byId = new Map();
    /** The ids of rows that were cleared from the page. @type {Set<string>} */
    this.cleared = new Set();
    /** The list's entity tag; `""` before the first response. */
    this.tag = "";
    /** The number of entries that the proxy has dropped since its start, to make room for newer ones. */
    this.dropped = 0;
  }

  /** Replace all rows. @param {Row[]} rows newest first */
  replace(rows) {
    this.all = rows;
    this.byId = new Map(rows.map((row) => [row.id, row]));
    this.cleared = new Set([...this.cleared].filter((id) => this.byId.has(id)));
    this.sift();
  }

  /**
   * Apply changes.
   *
   * @param {string[]} removed ids of removed rows; a new row may have the same id
   * @param {Row[]} changed new rows and new versions of rows, newest first
   */
  apply(removed, changed) {
    let rows = this.all;
    if (removed.length) {
      const gone = new Set(removed);
      rows = rows.filter((row) => !gone.has(row.id));
      for (const id of gone) {
        this.byId.delete(id);
        this.cleared.delete(id);
      }
    }
    const fresh = changed.filter((row) => !this.byId.has(row.id));
    const altered = fresh.length < changed.length;
    for (const row of changed) this.byId.set(row.id, row);
    if (altered) rows = rows.map((row) => this.byId.get(row.id) ?? row);
    this.all = fresh.length ? [...fresh, ...rows] : rows;
    this.sift();
  }

  /** Hide rows; later ones are shown. @param {Row[]} rows */
  clear(rows) {
    for (const { id } of rows) this.cleared.add(id);
    this.sift();
  }

  /** Show the cleared rows again. */
  restore() {
    this.cleared.clear();
    this.sift();
  }

  sift() {
    this.rows = this.cleared.size ? this.all.filter(({ id }) => !this.cleared.has(id)) : this.all;
  }

  /** Remove all rows, because the proxy was restarted. */
  forget() {
    this.replace([]);
    this.tag = "";
    this.dropped = 0;
  }
}
