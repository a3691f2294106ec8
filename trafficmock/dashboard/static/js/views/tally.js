// @ts-check
/** Counts recorded requests by group and by time. */

/** @typedef {import("../data/rows.js").Row} Row */

/**
 * @typedef {object} Group
 * @property {string} key
 * @property {string} title
 * @property {string} note
 * @property {number} count
 * @property {number} failed
 * @property {number} first epoch ms
 * @property {number} last epoch ms
 * @property {Record<string, number>} actions
 */

/**
 * @param {Row[]} rows newest first
 * @param {(row: Row) => {key: string, title: string, note?: string}} by
 * @returns {Group[]} groups with failures first, then by size
 */
export function groups(rows, by) {
  /** @type {Map<string, Group>} */
  const found = new Map();
  for (const row of rows) {
    const { key, title, note = "" } = by(row);
    let group = found.get(key);
    if (!group) {
      group = { key, title, note, count: 0, failed: 0, first: row.at, last: row.at, actions: {} };
      found.set(key, group);
    }
    group.count++;
    group.first = Math.min(group.first, row.at);
    group.last = Math.max(group.last, row.at);
    if (row.failed) group.failed++;
    group.actions[row.action] = (group.actions[row.action] ?? 0) + 1;
  }
  return [...found.values()].sort(
    (one, other) =>
      other.failed - one.failed ||
      other.count - one.count ||
      one.title.localeCompare(other.title) ||
      other.first - one.first,
  );
}

/**
 * Count rows in equal slices of time.
 *
 * @param {Row[]} rows newest first
 * @param {number} slices
 * @returns {{from: number, to: number, counts: Record<string, number>[]}}
 */
export function overTime(rows, slices) {
  const from = rows.reduce((least, row) => Math.min(least, row.at), Infinity);
  const to = Math.max(
    rows.reduce((most, row) => Math.max(most, row.at), 0),
    from + 1000,
  );
  /** @type {Record<string, number>[]} */
  const counts = Array.from({ length: slices }, () => ({}));
  for (const row of rows) {
    const slice = counts[Math.min(slices - 1, Math.floor(((row.at - from) / (to - from)) * slices))];
    slice[row.action] = (slice[row.action] ?? 0) + 1;
  }
  return { from, to, counts };
}
