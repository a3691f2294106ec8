/*
 * Which URLs the agent's filter would let pass: reads JSON lines {"entries", "url"}, and prints the
 * numbers of those that pass by their own entries, by those of all lines together, or by those of
 * every second line when the others have been dropped.
 */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { Filter } = createRequire(import.meta.url)("../../src/local/filter.js");

const keyOf = (entry) => JSON.stringify(entry);
const together = new Filter();
const rows = [];
for await (const line of createInterface({ input: process.stdin })) rows.push(JSON.parse(line));
const half = new Filter();
for (const { entries } of rows) {
  for (const entry of entries.filter(({ all }) => !all)) for (const filter of [together, half]) filter.add(entry);
}
const isKept = (number) => number % 2 === 0;
const kept = new Set(rows.filter((_, number) => isKept(number)).flatMap(({ entries }) => entries.map(keyOf)));
for (const { entries } of rows) for (const entry of entries) if (!kept.has(keyOf(entry))) half.drop(entry);
rows.forEach(({ entries, url }, number) => {
  const own = new Filter();
  for (const entry of entries) own.add(entry);
  const isForAll = entries.some(({ all }) => all);
  const isAsked = isForAll || (together.asks(url) && (half.asks(url) || !isKept(number)));
  if (!own.asks(url) || !isAsked) process.stdout.write(`${number}\n`);
});
