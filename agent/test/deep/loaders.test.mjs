import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { askAll, common, directory, plain, sourceOf, startMirror } from "../lib/loaders.mjs";
import { startProxy } from "../lib/proxy.mjs";

const require = createRequire(import.meta.url);
const PACKAGES = fileURLToPath(new URL("node_modules", import.meta.url));
const TSX = require.resolve("tsx/cli");

/** Packages that CommonJS can load on every Node. */
const LIBRARIES = ["fastq", "async", "bottleneck", "dataloader"];
const RIGHT = Object.fromEntries(
  ["fastq", "callbacks", "async", "priority", "bottleneck", "dataloader"].map((kind) => [kind, []]),
);

const GIVES_SOURCE = `
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(\`
    import { readFileSync } from "node:fs";
    import { fileURLToPath } from "node:url";
    export async function load(url, context, next) {
      const loaded = await next(url, context);
      return loaded.format === "commonjs" ? { ...loaded, source: readFileSync(fileURLToPath(url)) } : loaded;
    }\`));`;
const IN_THE_MIDDLE = `
  import { register } from "node:module";
  register("import-in-the-middle/hook.mjs", import.meta.url);`;
const TSCONFIG = { compilerOptions: { module: "commonjs", target: "es2022", esModuleInterop: true } };
const REQUIRE = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

const WAYS = {
  import: ["app.mjs"],
  require: ["app.cjs"],
  "import of an ES module in a package": ["module.mjs"],
  tsx: [TSX, "app.mts"],
  "node --import tsx": ["--import", "tsx", "app.mts"],
  "a loader that gives Node the source": ["--no-warnings", "--import", "./hooks.mjs", "app.mjs"],
  "import-in-the-middle": ["--no-warnings", "--import", "./middle.mjs", "app.mjs"],
  "ts-node": ["-r", "ts-node/register/transpile-only", "app.ts"],
  "@swc-node/register": ["-r", "@swc-node/register", "app.ts"],
  "@swc-node/register, ESM": ["--no-warnings", "--import", "@swc-node/register/esm-register", "app.mts"],
  "esbuild-register": ["-r", "esbuild-register", "app.ts"],
  "a bundle": ["bundle.cjs"],
  "a minified bundle": ["bundle.min.cjs"],
  "a bundle of ES modules": ["bundle.mjs"],
  "a minified bundle of ES modules": ["bundle.min.mjs"],
  webpack: ["webpack-production.cjs"],
  "webpack, development": ["webpack-development.cjs"],
};

/** @param {string} place @param {string} mode */
const withWebpack = (place, mode) =>
  new Promise((resolve, reject) => {
    const output = { path: place, filename: `webpack-${mode}.cjs` };
    require("webpack")({ mode, target: "node", context: place, entry: "./app.mjs", output }, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString()));
      else resolve(undefined);
    });
  });

describe("jobs of libraries are their test's, whichever way the libraries are loaded", () => {
  let proxy, mirror, app, env;
  before(async () => {
    proxy = await startProxy();
    mirror = await startMirror();
    env = { TRAFFICMOCK_PROXY_URL: proxy.url, UPSTREAM: mirror.url };
    const source = sourceOf(LIBRARIES);
    app = directory(PACKAGES, {
      "app.mts": source,
      "app.ts": source,
      "app.mjs": plain(source),
      "app.cjs": common(plain(source)),
      "module.mjs": plain(source).replace('"async"', '"async/dist/async.mjs"'),
      "hooks.mjs": GIVES_SOURCE,
      "middle.mjs": IN_THE_MIDDLE,
      "tsconfig.json": JSON.stringify(TSCONFIG),
      "package.json": "{}",
    });
    for (const [name, minify] of [
      ["bundle", false],
      ["bundle.min", true],
    ]) {
      const options = { entryPoints: [`${app.place}/app.mjs`], bundle: true, platform: "node", minify };
      buildSync({ ...options, outfile: `${app.place}/${name}.cjs` });
      buildSync({ ...options, format: "esm", banner: { js: REQUIRE }, outfile: `${app.place}/${name}.mjs` });
    }
    await withWebpack(app.place, "production");
    await withWebpack(app.place, "development");
  });
  after(async () => {
    app.remove();
    mirror.stop();
    await proxy.stop();
  });

  for (const [way, words] of Object.entries(WAYS)) {
    test(`by ${way}`, { timeout: 60000 }, async () => {
      const { wrong } = await askAll({ place: app.place, words, env });
      assert.deepEqual(wrong, RIGHT);
    });
  }
});
