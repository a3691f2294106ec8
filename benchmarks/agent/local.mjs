/*
 * CPU time of one local decision of the agent with many routes: node benchmarks/agent/local.mjs
 */
import { createRequire } from "node:module";

const { Filter } = createRequire(import.meta.url)("../../agent/src/local/filter.js");

const ROUNDS = 200_000;
const KINDS = {
  "http://host/path/*": (n) => [`http://shop${n % 100}.test/api/${n}/`, ""],
  "**/path/*": (n) => ["", `/api/${n}/`, ""],
  "50 URLs shared by many tests": (n) => [`http://shop.test/api/${n % 50}/`, ""],
  mixed: (n) =>
    n % 10 === 0 ? [`http://shop.test/exact/${n}`] : n % 100 === 1 ? ["", "/", `${n}.json`] : ["", `/api/${n}/`, ""],
};
const MISSED = "https://payments.example.com/v1/charges/ch_3f9a?expand=customer&limit=10";

/** @returns {number} CPU µs of one call */
function cost(act) {
  for (let n = 0; n < ROUNDS / 10; n += 1) act(n);
  const before = process.cpuUsage();
  for (let n = 0; n < ROUNDS; n += 1) act(n);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / ROUNDS;
}

const lines = [`CPU µs of one decision, Node ${process.version}`];
lines.push("routes".padEnd(32) + [10, 1000, 10000].map((count) => `${count}, miss / hit`.padStart(20)).join(""));
for (const [name, texts] of Object.entries(KINDS)) {
  const cells = [10, 1000, 10000].map((count) => {
    const filter = new Filter();
    for (let n = 0; n < count; n += 1) filter.add({ texts: texts(n) });
    const hit = `http://shop5.test/api/5/x`.replace("shop5", name.startsWith("50") ? "shop" : "shop5");
    // A new text each time, as with the URL of a request.
    const miss = cost((n) => filter.asks(MISSED + n, undefined));
    const found = cost((n) => filter.asks(hit + n, undefined));
    return `${miss.toFixed(1)} / ${found.toFixed(1)}`.padStart(20);
  });
  lines.push(name.padEnd(32) + cells.join(""));
}
process.stdout.write(`${lines.join("\n")}\n`);
