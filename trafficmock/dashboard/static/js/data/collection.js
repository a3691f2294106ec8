// @ts-check
/** @typedef {import("./rows.js").Row} Row */

/** The rows of one list, newest first, kept by what the proxy says has changed. */
export class Collection {
  constructor() {
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, Row>} */
    this.byId = new Map();
    /** The list's entity tag, `""` when there is no list yet. */
    this.tag = "";
  }

  /** Take a whole list. @param {Row[]} rows newest first */
  replace(rows) {
    this.rows = rows;
    this.byId = new Map(rows.map((row) => [row.id, row]));
  }

  /**
   * Take changes.
   *
   * @param {string[]} removed what went; it may have come back as another
   * @param {Row[]} changed new rows and new states of rows, newest first
   */
  apply(removed, changed) {
    let rows = this.rows;
    if (removed.length) {
      const gone = new Set(removed);
      rows = rows.filter((row) => !gone.has(row.id));
      for (const id of gone) this.byId.delete(id);
    }
    const fresh = changed.filter((row) => !this.byId.has(row.id));
    const altered = fresh.length < changed.length;
    for (const row of changed) this.byId.set(row.id, row);
    if (altered) rows = rows.map((row) => this.byId.get(row.id) ?? row);
    this.rows = fresh.length ? [...fresh, ...rows] : rows;
  }

  /** Forget everything. */
  clear() {
    this.replace([]);
    this.tag = "";
  }
}
