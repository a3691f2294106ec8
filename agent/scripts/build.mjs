/*
 * Bundles the agent, with the packages it needs, into dist/: what a program can
 * ship that does not have npm. `dist/register.js` is the preload,
 * `dist/index.js` the call.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

await build({
  absWorkingDir: root,
  entryPoints: ["register.js", "src/index.js"],
  entryNames: "[name]",
  outdir: "dist",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["bufferutil", "utf-8-validate"],
  legalComments: "inline",
  logLevel: "warning",
});
const licence = readFileSync(`${root}/node_modules/ws/LICENSE`, "utf8");
writeFileSync(`${root}/dist/THIRD-PARTY-LICENSES`, `ws\n\n${licence}`);
cpSync(`${root}/index.d.ts`, `${root}/dist/index.d.ts`);
