import undici from "undici7";
import { run } from "../lib/harness.mjs";
import { undiciCalls } from "../lib/undici-calls.mjs";

await run(undiciCalls(undici, 7));
