/*
 * Bundles the agent, with the packages it needs, into dist/: what a program can
 * ship that does not have npm. `dist/register.js` is the preload,
 * `dist/index.js` the call, `dist/module-bundles.js` what they load into Node's thread for hooks. `node scripts/build.mjs [directory]`: esbuild and ws
 * are those of the checkout, or those that are installed in the directory.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const packages = process.argv[2] ?? root;
const { build } = createRequire(`${packages}/package.json`)("esbuild");

await build({
  absWorkingDir: root,
  entryPoints: ["register.js", "src/index.js", "src/process/module-bundles.js"],
  entryNames: "[name]",
  outdir: "dist",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  nodePaths: [`${packages}/node_modules`],
  external: ["bufferutil", "utf-8-validate"],
  legalComments: "inline",
  logLevel: "warning",
});
const licence = readFileSync(`${packages}/node_modules/ws/LICENSE`, "utf8");
writeFileSync(`${root}/dist/THIRD-PARTY-LICENSES`, `ws\n\n${licence}`);
cpSync(`${root}/index.d.ts`, `${root}/dist/index.d.ts`);
