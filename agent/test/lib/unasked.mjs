/*
 * Which URLs the agent's filter would let pass: reads JSON lines {"entries", "url"}, and prints the
 * numbers of those that pass by their own entries, or by those of all lines together.
 */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { Filter } = createRequire(import.meta.url)("../../src/local/filter.js");

const together = new Filter();
const rows = [];
for await (const line of createInterface({ input: process.stdin })) rows.push(JSON.parse(line));
for (const { entries } of rows) for (const entry of entries) if (!entry.all) together.add(entry);
rows.forEach(({ entries, url }, number) => {
  const own = new Filter();
  for (const entry of entries) own.add(entry);
  const isForAll = entries.some(({ all }) => all);
  if (!own.asks(url) || !(isForAll || together.asks(url))) process.stdout.write(`${number}\n`);
});
