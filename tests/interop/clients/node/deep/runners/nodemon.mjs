import { runTool } from "../../lib/tool.mjs";

runTool("nodemon", "nodemon", ["--quiet", "--watch", "tools", "tools/app.mjs"]);
