import { run } from "../../lib/harness.mjs";
import { calls } from "./calls.ts";

await run(calls);
