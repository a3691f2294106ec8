import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { buildSync } from "esbuild";
import { REQUIRE, runNode, startFile } from "../lib/child.mjs";
import { askAll, common, directory, plain, sourceOf, startMirror } from "../lib/loaders.mjs";
import { startProxy, until } from "../lib/proxy.mjs";

const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));
const TSX = fileURLToPath(new URL("../../node_modules/tsx/dist/cli.mjs", import.meta.url));

/** A loader that gives Node the source of CommonJS, as several do: Node then compiles it past the functions of `Module`. */
const GIVES_SOURCE = `
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(\`
    import { readFileSync } from "node:fs";
    import { fileURLToPath } from "node:url";
    export async function load(url, context, next) {
      const loaded = await next(url, context);
      return loaded.format === "commonjs" ? { ...loaded, source: readFileSync(fileURLToPath(url)) } : loaded;
    }\`));`;

/** Code that compiles the text of a bundle by `node:vm`, without the name of its file. */
const COMPILED = {
  Script: "new vm.Script(wrapped).runInThisContext()",
  "Script of a buffer": "new vm.Script(Buffer.from(wrapped)).runInThisContext()",
  "Script.runInContext": "new vm.Script(wrapped).runInContext(vm.createContext(globals()))",
  "Script.runInNewContext": "new vm.Script(wrapped).runInNewContext(globals())",
  runInThisContext: "vm.runInThisContext(wrapped)",
  runInContext: "vm.runInContext(wrapped, vm.createContext(globals()))",
  runInNewContext: "vm.runInNewContext(wrapped, globals())",
  compileFunction: `vm.compileFunction(text, ["require"])`,
  "compileFunction in a context": `vm.compileFunction(text, ["require"], { parsingContext: vm.createContext(globals()) })`,
};

/** Uses undici in the tick in which it is evaluated. */
const UNDICI = `
  const { Agent, Client, fetch, request } = require("undici7");
  const url = "http://nowhere.test/";
  const sent = [request(url), fetch(url), request(url, { dispatcher: new Agent() }), new Client(url).request({ path: "/", method: "GET" })];
  Promise.allSettled(sent).then((all) => {
    console.log(JSON.stringify(all.map(({ reason }) => reason?.code ?? reason?.cause?.code)));
    process.exit();
  });`;

describe("libraries are hooked whichever way they are loaded", () => {
  let proxy, mirror, app, env;
  before(async () => {
    proxy = await startProxy();
    mirror = await startMirror();
    env = { TRAFFICMOCK_PROXY_URL: proxy.url, UPSTREAM: mirror.url };
    const source = sourceOf(["fastq"]);
    const bundle = (format, banner) =>
      buildSync({
        stdin: { contents: plain(source), resolveDir: PACKAGES },
        bundle: true,
        minify: true,
        platform: "node",
        format,
        banner: { js: banner },
        write: false,
      }).outputFiles[0].text;
    const required = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;
    app = directory(PACKAGES, {
      "app.mts": source,
      "app.mjs": plain(source),
      "app.cjs": common(plain(source)),
      "hooks.mjs": GIVES_SOURCE,
      "bundle.cjs": bundle("cjs", ""),
      "bundle.mjs": bundle("esm", required),
      "script.cjs": `const { Script } = require("node:vm");
        const filename = __dirname + "/bundle.cjs";
        const text = require("node:fs").readFileSync(filename, "utf8");
        new Script("(function (require) {" + text + "})", { filename }).runInThisContext()(require);`,
      ...Object.fromEntries(
        Object.entries(COMPILED).map(([name, code]) => [
          `compiled/${name}.cjs`,
          `const vm = require("node:vm");
          const text = require("node:fs").readFileSync(__dirname + "/../bundle.cjs", "utf8");
          const wrapped = "(function (require) {" + text + "})";
          const globals = () => ({ process, console, fetch, URL, setTimeout, setImmediate, clearTimeout });
          ${code}(require);`,
        ]),
      ),
      "worker.mjs": `import { Worker } from "node:worker_threads";
        new Worker(new URL("./far.mjs", import.meta.url));`,
      "eval.cjs": `const { Worker } = require("node:worker_threads");
        new Worker(require("node:fs").readFileSync(__dirname + "/bundle.cjs", "utf8"), { eval: true });`,
      "odd-eval.cjs": `const { Worker } = require("node:worker_threads");
        new Worker(require("node:fs").readFileSync(__dirname + "/odd.cjs", "utf8"), { eval: true });`,
      ...Object.fromEntries(
        Object.entries({
          plain: `"," + encodeURIComponent(text)`,
          charset: `";charset=utf-8," + encodeURIComponent(text)`,
          base64: `";base64," + Buffer.from(text).toString("base64")`,
        }).map(([name, data]) => [
          `worker-${name}.cjs`,
          `const { Worker } = require("node:worker_threads");
          const text = require("node:fs").readFileSync(__dirname + "/url.mjs", "utf8");
          new Worker(new URL("data:text/javascript" + ${data}));`,
        ]),
      ),
      "import.cjs": `const text = require("node:fs").readFileSync(__dirname + "/url.mjs", "utf8");
        import("data:text/javascript," + encodeURIComponent(text));`,
      "import.mjs": `import { readFileSync } from "node:fs";
        const text = readFileSync(new URL("./url.mjs", import.meta.url));
        await import("data:application/javascript;base64," + text.toString("base64"));`,
      "import-file.mjs": `await import("data:text/javascript,"); await import("./bundle.cjs");`,
      "odd-import.mjs": `import { readFileSync } from "node:fs";
        const text = readFileSync(new URL("./url.mjs", import.meta.url), "utf8").replaceAll(".worked", ".done");
        await import("data:text/javascript," + encodeURIComponent(text));`,
      "url.mjs": bundle(
        "esm",
        `import { createRequire } from "node:module"; const require = createRequire(process.cwd() + "/app.mjs");`,
      ),
      "computed.mjs": `const name = "bundle"; await import("./" + name + ".mjs");`,
      "far.mjs":
        Array.from({ length: 80 }, (_, at) => `import "./parts/${at}.mjs";`).join("") + `import "./computed.mjs";`,
      ...Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`parts/${at}.mjs`, ""])),
      "odd.cjs": bundle("cjs", "").replaceAll(".worked", ".done"),
    });
  });
  after(async () => {
    app.remove();
    mirror.stop();
    await proxy.stop();
  });

  const WAYS = {
    "import of CommonJS": ["app.mjs"],
    require: ["app.cjs"],
    tsx: [TSX, "app.mts"],
    "node --import tsx": ["--import", "tsx", "app.mts"],
    "a minified bundle": ["bundle.cjs"],
    "a minified bundle of ES modules": ["bundle.mjs"],
    "a bundle that node:vm compiles": ["script.cjs"],
    ...Object.fromEntries(
      Object.keys(COMPILED).map((name) => [`node:vm without a file, ${name}`, [`compiled/${name}.cjs`]]),
    ),
    "a worker thread of code": ["eval.cjs"],
    "a worker thread of a URL": ["worker-plain.cjs"],
    "a worker thread of a URL with its charset": ["worker-charset.cjs"],
    "a worker thread of a URL in base64": ["worker-base64.cjs"],
    "an import of a URL": ["import.cjs"],
    "an import of a URL in base64 by an ES module": ["import.mjs"],
    "an import of a file beside one of a URL": ["import-file.mjs"],
    "a worker thread of many ES modules, and an import whose name is computed": ["worker.mjs"],
    "a loader that gives Node the source": ["--no-warnings", "--import", "./hooks.mjs", "app.mjs"],
  };
  for (const [way, words] of Object.entries(WAYS)) {
    const skip = way.includes("tsx") && !existsSync(TSX) && "tsx is missing; run: npm ci --prefix agent";
    test(`by ${way}`, { skip }, async () => {
      const { wrong, stderr } = await askAll({ place: app.place, words, env });
      assert.deepEqual(wrong, { fastq: [], callbacks: [] });
      assert.equal(stderr, "");
    });
  }

  for (const [way, [file, name]] of Object.entries({
    "": ["odd.cjs", String.raw`\S+odd\.cjs`],
    " in code of a worker thread": ["odd-eval.cjs", "<anonymous>"],
    " in a URL": ["odd-import.mjs", "data:text/javascript"],
  })) {
    test(`jobs of a copy that is not known have no context rather than another one's${way}`, async () => {
      const { wrong, stderr } = await askAll({ place: app.place, words: [file], env });
      const text = `fastq in ${name} cannot be changed, so no request of this process has a context while`;
      assert.match(stderr, new RegExp(text));
      assert.deepEqual(new Set(Object.values(wrong).flat()), new Set(["none"]));
    });
  }
});

describe("code that a program has kept of a bundle", () => {
  const MAKES = `
    process.env.NODE_OPTIONS = "";
    const { execFileSync } = require("node:child_process");
    const makes = "const { Script } = require('vm'); const text = require('fs').readFileSync(0, 'utf8');" +
      "process.stdout.write(new Script(text).createCachedData())";
    const kept = execFileSync(process.execPath, ["-e", makes], { input: TEXT });`;
  const TEXT = `(function (require) { return "DataLoader must be constructed with a function"; function DataLoader(load) {
    this._batchLoadFn = load }; DataLoader.prototype.load = () => {} })`;
  const code = (/** @type {string} */ ends) => `
    const vm = require("node:vm"); const TEXT = require("node:fs").readFileSync(__dirname + "/text.txt", "utf8");
    ${MAKES} ${ends} console.log(script.cachedDataRejected)`;
  for (const [way, [ends, rejected, named]] of Object.entries({
    "is used, and the library named": ["const script = new vm.Script(TEXT, { cachedData: kept });", "false", true],
    "without its text is used, and the library named": [
      `const script = new vm.Script(" ".repeat(TEXT.length), { cachedData: kept });`,
      "false",
      true,
    ],
    "that V8 refuses is compiled anew, with our calls": [
      `const script = new vm.Script(TEXT + " ", { cachedData: kept });`,
      "true",
      false,
    ],
    "with our calls is used": [
      "const own = new vm.Script(TEXT).createCachedData(); const script = new vm.Script(TEXT, { cachedData: own });",
      "false",
      false,
    ],
  })) {
    test(way, async () => {
      const proxy = await startProxy();
      const { place, remove } = directory(PACKAGES, { "kept.cjs": code(ends), "text.txt": TEXT });
      const { stdout, stderr } = await runNode(`require(${JSON.stringify(`${place}/kept.cjs`)}); process.exit()`, {
        env: { TRAFFICMOCK_PROXY_URL: proxy.url },
      });
      assert.equal(stdout, `${rejected}\n`, stderr);
      assert.equal(/^trafficmock: dataloader in evalmachine\.<anonymous> cannot be changed/.test(stderr), named);
      remove();
      await proxy.stop();
    });
  }
});

describe("code that is no file is named if it has a library", () => {
  const code = `"DataLoader must be constructed with a function"; this._batchLoadFn = 1; "AmazonSQS"; "SQSClient"; process.exit()`;
  const esm = "--input-type=module";
  for (const [words, name, input] of [
    [["-e", code], "[eval]"],
    [["-e", code, "word"], "[eval]"],
    [["-p", code], "[eval]"],
    [[esm, "-e", code], "[eval]"],
    [["-"], "[stdin]", code],
    [["-", "word"], "[stdin]", code],
    [[], "[stdin]", code],
    [[esm], "[stdin]", code],
  ]) {
    test(`by node ${words.join(" ").replace(code, "CODE")}`, () => {
      const env = { ...process.env, NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: "http://127.0.0.1:1" };
      const { stderr } = spawnSync(process.execPath, words, { input, env, encoding: "utf8" });
      for (const library of ["dataloader", "@aws-sdk/client-sqs"]) {
        assert.ok(stderr.includes(`trafficmock: ${library} in ${name} cannot be changed, so `), stderr);
      }
    });
  }

  test("and as it was otherwise", () => {
    const env = { ...process.env, NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: "http://127.0.0.1:1" };
    const input = "console.log(JSON.stringify(Object.getOwnPropertyDescriptor(process, '_eval'))); process.exit()";
    const { stdout } = spawnSync(process.execPath, ["-"], { input, env, encoding: "utf8" });
    assert.deepEqual(JSON.parse(stdout), { value: input, writable: true, enumerable: true, configurable: true });
  });
});

test("a copy in a bundle that is not known is named, on stderr and for the proxy", async () => {
  const proxy = await startProxy();
  const odd = `"DataLoader must be constructed with a function"; setInterval(() => {}, 1000)`;
  const { place, remove } = directory(PACKAGES, { "odd.cjs": odd });
  const file = `${place}/odd.cjs`;
  const app = await startFile(file, { NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: proxy.url });
  const [unhooked] = await until(proxy, "/api/connections", ({ nodeAgents }) => nodeAgents[0]?.unhooked);
  assert.deepEqual(unhooked, { library: "dataloader", file });
  assert.match(
    app.said().stderr,
    /^trafficmock: dataloader in \S+odd\.cjs cannot be changed, so no request of this process has/,
  );
  await app.stop();
  remove();
  await proxy.stop();
});

describe("undici in a bundle that uses it while it is evaluated", () => {
  for (const [name, options] of Object.entries({ "": {}, minified: { minify: true } })) {
    test(`is refused by strict mode ${name}`, async () => {
      const proxy = await startProxy("--strict");
      const { outputFiles } = buildSync({
        stdin: { contents: UNDICI, resolveDir: PACKAGES },
        bundle: true,
        platform: "node",
        write: false,
        ...options,
      });
      const { place, remove } = directory(PACKAGES, { "bundle.cjs": outputFiles[0].text });
      const { stdout, stderr } = await runNode(`require(${JSON.stringify(`${place}/bundle.cjs`)})`, {
        env: { TRAFFICMOCK_PROXY_URL: proxy.url },
      });
      assert.deepEqual(
        JSON.parse(stdout || JSON.stringify(stderr)),
        Array(4).fill("ERR_TRAFFICMOCK_UNMATCHED_REQUEST"),
      );
      remove();
      await proxy.stop();
    });
  }
});
