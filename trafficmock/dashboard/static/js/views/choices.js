// @ts-check
/** The choices of the filters by client and by test. */

import { processesOf } from "../data/clients.js";
import { testName } from "../data/tests.js";
import { moment } from "../lib/format.js";

/** @typedef {import("../data/rows.js").Row} Row */

/**
 * Return the names of clients, with the connected processes of each.
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
 * Return the names of tests that own or claim a row. Runs of one test are distinguished by their time.
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
