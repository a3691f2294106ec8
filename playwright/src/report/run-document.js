"use strict";

const { REPORT } = require("trafficmock-agent/protocol/facts");
const { version } = require("../../package.json");

/**
 * Makes one document of the records of all processes of a run. `trafficmock/report/run_document.py` is the same for
 * Python, and `docs/run.schema.json` the published schema of it.
 */

const SIDES = ["requests", "webSockets"];

/**
 * @param {any[][]} files the records of each process
 * @returns {any} the document of `run.json`
 */
function runDocument(files) {
  const all = files.map(processOf);
  const told = all.flatMap(({ sections }) => sections);
  const ends = all.flatMap(({ end }) => (end ? [end] : []));
  const left = all.flatMap(({ unowned }) => unowned);
  const workers = Object.values(Object.assign({}, ...all.map(workersOf)));
  return {
    format: REPORT.format,
    version,
    processes: all
      .flatMap(({ process }) => (process ? [process] : []))
      .sort((one, other) => one.startedAt - other.startedAt || one.pid - other.pid),
    counts: sorted(added(ends.map(({ counts }) => counts))),
    totals: Object.fromEntries(SIDES.map((side) => [side, total(workers, side)])),
    tests: all
      .flatMap(({ tests }) => tests)
      .map((test) => withSections(test, told))
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

/**
 * What strict mode refused in the processes of one runner, and no test owns.
 *
 * @param {any[][]} files the records of each process
 * @param {string} runner
 * @returns {import("../connection/unowned-text.js").Unmatched & { noApplication: string }} `noApplication` is empty if one
 *   of them saw an application
 */
function refusedIn(files, runner) {
  const ends = files.map(processOf).flatMap(({ process, end }) => (process?.runner === runner && end ? [end] : []));
  const missing = ends.flatMap(({ noApplication }) => (noApplication === undefined ? [] : [noApplication]));
  return {
    requests: highest(ends.flatMap(({ refused = [] }) => refused)),
    dropped: Math.max(0, ...ends.map(({ refusedDropped = 0 }) => refusedDropped)),
    frameworks: highest(ends.flatMap(({ frameworks = [] }) => frameworks)),
    noApplication: missing.every(Boolean) ? (missing[0] ?? "") : "",
  };
}

/** @param {any} process_ with its `end` @returns {Record<string, any>} the counts of its connections, with their run */
function workersOf({ process = {}, end }) {
  const run = process.runStartedAt ?? process.runParent;
  const known = Object.entries(end?.workers ?? {});
  return Object.fromEntries(known.map(([name, each]) => [name, { ...each, run }]));
}

/** @param {any[]} records of one process */
function processOf(records) {
  const begin = records.find(({ type }) => type === "begin");
  const end = records.findLast(({ type }) => type === "end");
  const process = begin && { ...begin.process, ended: Boolean(end), ...end?.process };
  const { runner, worker } = process ?? {};
  const tests = records.filter(({ type }) => type === "test").map(({ test }) => ({ ...test, runner, worker }));
  const [unowned, hars, sections] = ["unowned", "har", "sections"].map((kind) =>
    records.filter(({ type }) => type === kind),
  );
  return { process, end, tests, unowned, hars, sections };
}

/**
 * Add what a reporter knows of a test, which does not know its id.
 *
 * @param {any} test
 * @param {{ of: Record<string, unknown>, sections: object[] }[]} told
 */
function withSections(test, told) {
  const own = told.filter(({ of }) => Object.entries(of).every(([key, value]) => test[key] === value));
  if (!own.length) return test;
  return { ...test, sections: [...(test.sections ?? []), ...own.flatMap(({ sections }) => sections)] };
}

/**
 * What the tests of the run had, and what of no test came while it ran.
 *
 * @param {any[]} workers the counts of each connection of a worker with a proxy, with its `service` and `run`. Those of no
 *   test only rise, and workers share them: a run began with the least of them, and ended with the most. What came between
 *   two runs is of neither, and what came while two ran is there once.
 * @param {string} side
 */
function total(workers, side) {
  const counted = workers.map(({ tests }) => cells(tests[side], 1));
  for (const service of new Set(workers.map((each) => each.service))) {
    const same = workers.filter((each) => each.service === service);
    const runs = [...new Set(same.map(({ run }) => run))].map((run) => same.filter((each) => each.run === run));
    for (const { before, after } of spans(runs.map((of) => span(of, side)))) counted.push(before, after);
  }
  const found = Object.entries(sorted(added(counted))).filter(([, number]) => number > 0);
  /** @type {Record<string, Record<string, number>>} */
  const hosts = {};
  for (const [cell, number] of found) {
    const [host, action] = JSON.parse(cell);
    (hosts[host] ??= {})[action] = number;
  }
  return { total: size(Object.fromEntries(found)), decisions: sorted(added(Object.values(hosts))), hosts };
}

/** @typedef {{ before: Record<string, number>, after: Record<string, number> }} Span `before` has negative numbers */

/** @param {any[]} workers of one run @param {string} side @returns {Span} the counts with which it began and ended */
function span(workers, side) {
  const [before] = workers.map((each) => cells(each.before[side], -1)).sort((one, other) => size(other) - size(one));
  const [after] = workers.map((each) => cells(each.unowned[side], 1)).sort((one, other) => size(other) - size(one));
  return { before, after };
}

/** @param {Span[]} ofRuns @returns {Span[]} with those joined that overlap */
function spans(ofRuns) {
  /** @type {Span[]} */
  const joined = [];
  const inOrder = ofRuns.sort(
    (one, other) => size(other.before) - size(one.before) || size(one.after) - size(other.after),
  );
  for (const { before, after } of inOrder) {
    const last = joined.at(-1);
    if (last && -size(before) <= size(last.after)) {
      if (size(after) > size(last.after)) last.after = after;
    } else {
      joined.push({ before, after });
    }
  }
  return joined;
}

/**
 * @param {{ hosts: Record<string, Record<string, number>> }} counts
 * @param {1 | -1} sign
 * @returns {Record<string, number>} the numbers by host and decision
 */
function cells({ hosts }, sign) {
  const found = Object.entries(hosts).flatMap(([host, actions]) =>
    Object.entries(actions).map(([action, number]) => [JSON.stringify([host, action]), sign * number]),
  );
  return Object.fromEntries(found);
}

/** @param {Record<string, number>} counts */
const size = (counts) => Object.values(counts).reduce((all, number) => all + number, 0);

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

module.exports = { refusedIn, runDocument };
