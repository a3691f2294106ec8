import { run } from "../../../lib/harness.mjs";
import { endTool } from "../../../lib/tool.mjs";
import { toolCalls } from "../../../lib/tool-calls.mjs";

const calls: Record<string, () => Promise<unknown>> = toolCalls();

await run(calls);
endTool();
