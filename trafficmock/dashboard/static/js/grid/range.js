// @ts-check
/**
 * The time that the rows in sight span, on which their bars are drawn.
 *
 * @typedef {{from: number, to: number}} Range epoch ms
 * @typedef {import("../data/rows.js").Row} Row
 */

/**
 * @param {Row[]} rows
 * @param {number} first index in sight
 * @param {number} last index that is no longer in sight
 * @param {Range} before the range until now, given back when it is the same
 * @returns {Range}
 */
export function rangeOf(rows, first, last, before) {
  let from = Infinity;
  let to = -Infinity;
  for (let index = first; index < last; index++) {
    const { at, duration = 0 } = rows[index];
    from = Math.min(from, at);
    to = Math.max(to, at + duration);
  }
  if (from > to) return before;
  to = Math.max(to, from + 1);
  return from === before.from && to === before.to ? before : { from, to };
}

/**
 * Place a row's bar. One that has not ended reaches the end of the range.
 *
 * @param {Row} row
 * @param {Range} range
 * @returns {{left: number, width: number}} shares of the range, from 0 to 1
 */
export function placeOf(row, { from, to }) {
  const share = (/** @type {number} */ at) => Math.min(1, Math.max(0, (at - from) / (to - from)));
  const left = share(row.at);
  return { left, width: share(row.duration === undefined ? to : row.at + row.duration) - left };
}
