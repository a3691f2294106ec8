// @ts-check
/** The clients and tests that a list can be filtered by. */

import { processesOf } from "../data/clients.js";
import { testName } from "../data/tests.js";
import { moment } from "../lib/format.js";

/** @typedef {import("../data/rows.js").Row} Row */

/**
 * Name the clients, with the processes that are connected under each name.
 *
 * @param {Row[]} rows
 * @param {import("../data/clients.js").Client[]} agents
 * @returns {Map<string, string>} names by client id
 */
export function clientChoices(rows, agents) {
  return new Map(
    [...new Set(rows.map((row) => row.clientId))].map((id) => [
      id,
      [id, processesOf(agents, id)].filter(Boolean).join(" · "),
    ]),
  );
}

/**
 * Name the tests that own a row, or wanted one. Runs of one test are told apart by their time.
 *
 * @param {Row[]} rows
 * @returns {Map<string, string>} names by test id
 */
export function testChoices(rows) {
  /** @type {Map<string, {name: string, first: number}>} */
  const tests = new Map();
  const add = (/** @type {string} */ id, /** @type {string} */ title, /** @type {number} */ at) => {
    const first = Math.min(at, tests.get(id)?.first ?? at);
    tests.set(id, { name: testName(title) || id, first });
  };
  for (const row of rows) {
    if (row.testId) add(row.testId, row.title, row.at);
    for (const match of row.matches) add(match.testId, match.title, row.at);
  }
  /** @type {Map<string, number>} */
  const runs = new Map();
  for (const { name } of tests.values()) runs.set(name, (runs.get(name) ?? 0) + 1);
  return new Map(
    [...tests].map(([id, { name, first }]) => [id, (runs.get(name) ?? 0) > 1 ? `${moment(first)} ${name}` : name]),
  );
}
