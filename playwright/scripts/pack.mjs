/*
 * npm runs this around packing: `before` writes the version of the Python package, which is set in one place only,
 * and names the agent by it; `after` puts the agent of this checkout back. A package that was copied out of the checkout
 * stays as it is.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = `${root}/../trafficmock/__init__.py`;
const file = `${root}/package.json`;
const isBefore = process.argv[2] === "before";

if (existsSync(source)) {
  const [, version] = /^__version__ = "(.+)"$/m.exec(readFileSync(source, "utf8"));
  execFileSync("npm", ["version", "--no-git-tag-version", "--allow-same-version", "--ignore-scripts", version], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  manifest.dependencies["trafficmock-agent"] = isBefore ? `^${version}` : "file:../agent";
  writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
}
