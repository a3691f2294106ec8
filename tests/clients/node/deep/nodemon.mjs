import { runTool } from "../lib/tool.mjs";

runTool("nodemon", "nodemon", ["--watch", "tools", "tools/app.mjs"]);
