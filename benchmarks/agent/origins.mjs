/*
 * CPU of the agent for where a request without a context comes from, by the depth of its stack:
 * while the proxy does not want to know (no test with a context runs), and while it does.
 *
 *   node benchmarks/agent/origins.mjs [ROUNDS]
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { TestContexts } = require("../../agent/src/contexts/test-contexts.js");

const [rounds = "40"] = process.argv.slice(2);
const COUNT = 1000;
const contexts = new TestContexts({ isContextRead: true, contextMs: 30_000 }, { isOfSystem: () => true });

const originOf = () => contexts.originOf(contexts.current(), originOf)?.toWire();
const deep = (depth, act) => (depth > 0 ? deep(depth - 1, act) : act());

/** @returns {number} CPU µs of one origin */
function measure(depth) {
  const before = process.cpuUsage();
  for (let i = 0; i < COUNT; i += 1) deep(depth, originOf);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / COUNT;
}

for (const depth of [0, 10, 40]) {
  const least = [false, true].map((wanted) => {
    contexts.areOriginsWanted = wanted;
    return Math.min(...Array.from({ length: Number(rounds) }, () => measure(depth)));
  });
  const [unwanted, wanted] = least.map((each) => each.toFixed(1));
  process.stdout.write(`${process.version}, ${depth} functions deep: ${unwanted} µs unwanted, ${wanted} µs wanted\n`);
}
