// @ts-check
/** Sorts rows. */

import { NEWEST_FIRST } from "./layout.js";

/** @typedef {import("../data/rows.js").Row} Row */

/**
 * Sort rows by a column. Equal rows stay newest first, rows without a value are last.
 *
 * @param {Row[]} rows newest first
 * @param {import("./layout.js").Sort} sort
 * @param {import("./grid.js").Column[]} columns
 * @returns {Row[]}
 */
export function ordered(rows, sort, columns) {
  const column = columns.find(({ name }) => name === sort.column);
  if (!column || sort === NEWEST_FIRST) return rows;
  const keyed = rows.map((row) => ({ row, key: keyOf(column.by(row)) }));
  const way = sort.descending ? -1 : 1;
  keyed.sort(({ key: one }, { key: other }) => {
    if (one === other) return 0;
    if (one === undefined) return 1;
    if (other === undefined) return -1;
    return one < other ? -way : way;
  });
  return keyed.map(({ row }) => row);
}

/** @param {string | number | undefined} value */
function keyOf(value) {
  return value === "" ? undefined : typeof value === "string" ? value.toLowerCase() : value;
}
