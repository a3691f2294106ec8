import { test } from "@jest/globals";
import { run } from "../../../lib/harness.mjs";
import { toolCalls } from "../../../lib/tool-calls.mjs";

test("the calls", () => run(toolCalls()), 60_000);
