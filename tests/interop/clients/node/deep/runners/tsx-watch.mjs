import { runTool } from "../../lib/tool.mjs";

runTool("tsx", "tsx", ["watch", "--clear-screen=false", "tools/app.ts"]);
