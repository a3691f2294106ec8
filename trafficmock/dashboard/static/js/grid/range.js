// @ts-check
/**
 * The time range of the visible rows, on which their bars are drawn.
 *
 * @typedef {{from: number, to: number}} Range epoch ms
 * @typedef {import("../data/rows.js").Row} Row
 */

/**
 * @param {Row[]} rows
 * @param {number} first index of the first visible row
 * @param {number} last index after the last visible row
 * @param {Range} before the present range, which is returned if it has not changed
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
 * Compute the place of a row's bar. That of an unfinished request reaches the end of the range.
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
