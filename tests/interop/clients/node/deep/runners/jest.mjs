import { runTool } from "../../lib/tool.mjs";

// The calls are in ES modules, which Jest reads with this option of Node.
process.env.NODE_OPTIONS += " --experimental-vm-modules";
runTool("jest", "jest", ["--config", "tools/jest.json", "--runInBand"]);
