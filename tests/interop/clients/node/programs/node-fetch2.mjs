import fetch from "node-fetch2";
import { fetchCalls } from "../lib/fetch-calls.mjs";
import { HTTPS, run } from "../lib/harness.mjs";
import { nodeFetchCalls } from "../lib/node-fetch-calls.mjs";

// A body that breaks off hangs in it, with the agent or without.
const { "cut by the server": _, ...calls } = fetchCalls(fetch);

await run({
  ...calls,
  ...nodeFetchCalls(fetch),
  "timeout of its own": async () => (await fetch(`${HTTPS}/stall`, { timeout: 300 })).text(),
});
