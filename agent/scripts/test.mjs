/* Runs every test with Node's own runner: node scripts/test.mjs [node binary]. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const files = readdirSync(`${root}/test`, { recursive: true })
  .filter((name) => /\.test\.[cm]js$/.test(name) && !name.startsWith("deep/"))
  .map((name) => `test/${name}`);
const node = process.argv[2] ?? process.execPath;
// One file at a time: each has a proxy of its own, and small machines are shared.
const { status } = spawnSync(node, ["--test", "--test-concurrency=1", ...files], { cwd: root, stdio: "inherit" });
process.exit(status ?? 1);
