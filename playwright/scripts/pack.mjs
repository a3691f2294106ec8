/*
 * npm runs this around packing: `before` writes the version of the Python package, which is set in one place only, and
 * names the agent by it; `after` puts the agent of this checkout back.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = `${root}/../trafficmock/__init__.py`;
const file = `${root}/package.json`;
const isBefore = process.argv[2] === "before";

if (existsSync(source)) {
  const [, version] = /^__version__ = "(.+)"$/m.exec(readFileSync(source, "utf8"));
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  manifest.version = version;
  manifest.dependencies["trafficmock-agent"] = isBefore ? `^${version}` : "file:../agent";
  writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
}
