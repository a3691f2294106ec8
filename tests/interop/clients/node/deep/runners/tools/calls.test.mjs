import { test } from "vitest";
import { run } from "../../../lib/harness.mjs";
import { toolCalls } from "../../../lib/tool-calls.mjs";

test("the calls", () => run(toolCalls()), 60_000);
