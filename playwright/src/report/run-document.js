"use strict";

const { version } = require("../../package.json");

/**
 * Makes one document of the records of all processes of a run. `trafficmock/report/run_document.py` is the same for
 * Python, and `docs/run.schema.json` the published schema of it.
 */

const FORMAT = 1;
const SIDES = ["requests", "webSockets"];

/**
 * @param {any[][]} files the records of each process
 * @returns {any} the document of `run.json`
 */
function runDocument(files) {
  const all = files.map(processOf);
  const ends = all.flatMap(({ end }) => (end ? [end] : []));
  const left = all.flatMap(({ unowned }) => unowned);
  const services = latest(ends.flatMap((end) => Object.entries(end.services ?? {})));
  return {
    format: FORMAT,
    version,
    processes: all
      .flatMap(({ process }) => (process ? [process] : []))
      .sort((one, other) => one.startedAt - other.startedAt || one.pid - other.pid),
    counts: sorted(added(ends.map(({ counts }) => counts))),
    totals: Object.fromEntries(SIDES.map((side) => [side, total(services, side)])),
    tests: all
      .flatMap(({ tests }) => tests)
      .sort((one, other) => one.startedAt - other.startedAt || compare(one.id, other.id)),
    unowned: {
      ...Object.fromEntries(SIDES.map((side) => [side, once(left.flatMap((each) => each[side]))])),
      omitted: Math.max(0, ...left.map(({ omitted }) => omitted)),
    },
    refused: highest(ends.flatMap(({ refused = [] }) => refused)),
    refusedDropped: Math.max(0, ...ends.map(({ refusedDropped = 0 }) => refusedDropped)),
    hars: uses(all.flatMap(({ hars }) => hars)),
  };
}

/** @param {any[]} records of one process */
function processOf(records) {
  const begin = records.find(({ type }) => type === "begin");
  const end = records.findLast(({ type }) => type === "end");
  const process = begin && { ...begin.process, ended: Boolean(end), ...end?.process };
  const { runner, worker } = process ?? {};
  const tests = records.filter(({ type }) => type === "test").map(({ test }) => ({ ...test, runner, worker }));
  const [unowned, hars] = ["unowned", "har"].map((kind) => records.filter(({ type }) => type === kind));
  return { process, end, tests, unowned, hars };
}

/**
 * Keep the latest counts of each proxy: counts only rise.
 *
 * @param {[string, any][]} found
 */
function latest(found) {
  const known = new Map();
  const size = (/** @type {any} */ summary) => SIDES.reduce((sum, side) => sum + summary[side].total, 0);
  for (const [name, summary] of found) {
    if (!known.has(name) || size(known.get(name)) <= size(summary)) known.set(name, summary);
  }
  return [...known.values()];
}

/** @param {any[]} summaries of several proxies @param {string} side */
function total(summaries, side) {
  const sum = (/** @type {string} */ name) => summaries.reduce((all, summary) => all + summary[side][name], 0);
  const decisions = sorted(added(summaries.map((summary) => summary[side].decisions)));
  return { total: sum("total"), decisions, recorded: sum("recorded"), dropped: sum("dropped") };
}

/** @param {Record<string, number>[]} counts */
function added(counts) {
  /** @type {Record<string, number>} */
  const sums = {};
  for (const [name, count] of counts.flatMap((each) => Object.entries(each ?? {}))) {
    sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

/** @param {Record<string, number>} counts */
const sorted = (counts) => Object.fromEntries(Object.entries(counts).sort(([one], [other]) => compare(one, other)));

/** @param {any[]} entries some of which several workers have seen @returns {any[]} oldest first */
function once(entries) {
  const known = new Map(entries.map((entry) => [entry.id, entry]));
  return [...known.values()].sort((one, other) => one.timestamp - other.timestamp || compare(one.id, other.id));
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

/** @param {{ file: string, entries: number, used: number[] }[]} found what each test has used of a HAR */
function uses(found) {
  const files = [...new Set(found.map(({ file }) => file))].sort(compare);
  return files.map((file) => {
    const same = found.filter((each) => each.file === file);
    const used = [...new Set(same.flatMap((each) => each.used))].sort((one, other) => one - other);
    return { file, entries: Math.max(...same.map(({ entries }) => entries)), used };
  });
}

/** @param {string} one @param {string} other */
const compare = (one, other) => (one < other ? -1 : Number(one > other));

module.exports = { runDocument };
