/*
 * Writes the version of the Python package, `trafficmock.__version__`, into
 * package.json and the lock file: it is set in one place only. npm runs this
 * before it packs. An agent that was copied out of the checkout keeps its version.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = `${root}/../trafficmock/__init__.py`;

if (existsSync(source)) {
  const [, version] = /^__version__ = "(.+)"$/m.exec(readFileSync(source, "utf8"));
  execFileSync("npm", ["version", "--no-git-tag-version", "--allow-same-version", "--ignore-scripts", version], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
}
