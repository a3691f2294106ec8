import { run } from "../../../lib/harness.mjs";
import { endTool } from "../../../lib/tool.mjs";
import { toolCalls } from "../../../lib/tool-calls.mjs";

await run(toolCalls());
endTool();
