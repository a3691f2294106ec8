import undici from "undici8";
import { run } from "../../lib/harness.mjs";
import { undiciCalls } from "../../lib/undici-calls.mjs";

await run(undiciCalls(undici, 8));
