import { runTool } from "../../lib/tool.mjs";

runTool("vitest", "vitest", ["run", "--root", "tools", "--reporter", "tap-flat", "calls.test.mjs"]);
