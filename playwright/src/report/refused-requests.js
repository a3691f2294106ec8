"use strict";

/**
 * What strict mode refused in the processes of one runner, and no test owns.
 *
 * @param {any[][]} files the records of each process
 * @param {string} runner
 * @returns {import("../connection/unowned-text.js").Unmatched & { noApplication: string }} `noApplication` is empty if one
 *   of them saw an application
 */
function refusedIn(files, runner) {
  const own = files.filter((records) => records.some(({ process }) => process?.runner === runner));
  const ends = own.flatMap((records) => records.findLast(({ type }) => type === "end") ?? []);
  const missing = ends.flatMap(({ noApplication }) => (noApplication === undefined ? [] : [noApplication]));
  return {
    requests: highest(ends.flatMap(({ refused = [] }) => refused)),
    dropped: Math.max(0, ...ends.map(({ refusedDropped = 0 }) => refusedDropped)),
    frameworks: highest(ends.flatMap(({ frameworks = [] }) => frameworks)),
    noApplication: missing.every(Boolean) ? (missing[0] ?? "") : "",
  };
}

/**
 * Keep the highest count of each refused request: a proxy counts for all its workers.
 *
 * @param {any[]} refused
 */
function highest(refused) {
  const known = new Map();
  for (const each of refused) {
    const key = JSON.stringify([each.kind, each.method ?? "", each.url, each.clientId]);
    if (!known.has(key) || known.get(key).count < each.count) known.set(key, each);
  }
  return [...known.values()];
}

module.exports = { refusedIn };
