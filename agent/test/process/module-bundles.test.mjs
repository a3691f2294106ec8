import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import Module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { REQUIRE } from "../lib/child.mjs";
import { directory } from "../lib/loaders.mjs";

const PACKAGES = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** A module with a copy of DataLoader. @param {string} value @param {string} [start] of its text */
const bundle = (value, start = "") => `${start}
  class DataLoader {
    constructor(load) {
      if (typeof load !== "function") throw new TypeError("DataLoader must be constructed with a function");
      this._batchLoadFn = load;
    }
    load() {}
  }
  export const value = "${value}";
  export const isCalled = String(DataLoader).includes("__trafficmock_library__");`;

const SHOW = "const show = ({ value, isCalled }) => console.log(value, isCalled);";
/** @param {string} name of what is imported, in quotes @param {string} text */
const writes = (name, text) => `
  import { writeFileSync } from "node:fs"; ${SHOW}
  writeFileSync(new URL("./built.mjs", import.meta.url), ${JSON.stringify(text)});
  show(await import(${name}));`;

/**
 * @param {string} place
 * @param {string} file
 * @param {boolean} [isAttached]
 * @param {string[]} [words] further options of Node
 * @returns {{ stdout: string, stderr: string }} what it prints, but for the agent's word that it has no proxy
 */
function run(place, file, isAttached = true, words = []) {
  const own = { NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: "http://127.0.0.1:1" };
  const { stdout, stderr } = spawnSync(process.execPath, ["--no-warnings", ...words, file], {
    cwd: place,
    timeout: 20_000,
    env: { ...process.env, ...(isAttached && own) },
    encoding: "utf8",
  });
  return { stdout, stderr: stderr.replace(/^trafficmock: Failed to connect.*\n/gm, "") };
}

describe("an ES module that has been written anew since the agent was attached", () => {
  const WAYS = {
    "is loaded as it is then": [writes(`"./built.mjs"`, bundle("new")), "new true"],
    "has calls under a query": [writes(`"./built.mjs?again"`, bundle("new")), "new true"],
    "has none if the library is gone": [
      writes(`"./built.mjs"`, `export const value = "new", isCalled = false;`),
      "new false",
    ],
    "may begin with a hashbang": [writes(`"./built.mjs"`, bundle("new", "#!/usr/bin/env node")), "new true"],
    "may begin with a byte order mark": [writes(`"./built.mjs"`, bundle("new", "\uFEFF#!node")), "new true"],
    "may wait at its top": [writes(`"./built.mjs"`, `${bundle("new")} await null;`), "new true"],
    "may be a cycle": [
      writes(`"./built.mjs"`, `import * as own from "./built.mjs"; ${bundle("new")} own.value;`),
      "new true",
    ],
    "is the one that another hook gives": [
      `import * as module from "node:module"; ${SHOW}
      const hook = "export const load = async (url, context, next) => { const loaded = await next(url, context);" +
        "return url.endsWith('built.mjs') ? { ...loaded, source: String(loaded.source).replace('old', 'new') } : loaded }";
      module.register("data:text/javascript," + encodeURIComponent(hook));
      show(await import("./built.mjs"));`,
      "new true",
    ],
  };
  for (const [way, [text, said]] of Object.entries(WAYS)) {
    test(way, () => {
      const { place, remove } = directory(PACKAGES, { "app.mjs": text, "built.mjs": bundle("old") });
      try {
        assert.deepEqual(run(place, "app.mjs"), { stdout: `${said}\n`, stderr: "" });
      } finally {
        remove();
      }
    });
  }

  test("is that of a worker thread", () => {
    const { place, remove } = directory(PACKAGES, {
      "app.mjs": `import { writeFileSync } from "node:fs"; import { Worker } from "node:worker_threads";
        new Worker(new URL("./worker.mjs", import.meta.url));`,
      "worker.mjs": writes(`"./built.mjs"`, bundle("new")),
      "built.mjs": bundle("old"),
    });
    assert.deepEqual(run(place, "app.mjs"), { stdout: "new true\n", stderr: "" });
    remove();
  });

  test("names a library that it cannot change, with its file", () => {
    const odd = bundle("new").replace("this._batchLoadFn", "this._otherLoadFn");
    const { place, remove } = directory(PACKAGES, {
      "app.mjs": `import { copyFileSync } from "node:fs"; ${SHOW}
        copyFileSync("odd.txt", "built.mjs"); show(await import("./built.mjs"));`,
      "odd.txt": odd,
      "built.mjs": bundle("old"),
    });
    const { stdout, stderr } = run(place, "app.mjs");
    assert.equal(stdout, "new false\n");
    assert.match(stderr, /^trafficmock: dataloader in \S+built\.mjs cannot be changed, so /);
    remove();
  });
});

test("an ES module that only its text shows to be one has calls, where Node tells it by the text", () => {
  const { place, remove } = directory(PACKAGES, {
    "package.json": "{}",
    "app.js": `import { value, isCalled } from "./built.js"; ${SHOW} show({ value, isCalled });`,
    "built.js": bundle("new"),
  });
  const plain = run(place, "app.js", false).stdout;
  assert.equal(run(place, "app.js").stdout, plain && "new true\n");
  remove();
});

test("hooks of others get the bytes that Node gives them", () => {
  const { place, remove } = directory(PACKAGES, {
    "hook.cjs": `const owner = require("node:module");
      const decoded = (loaded) =>
        loaded.format === "module" ? { ...loaded, source: new TextDecoder().decode(loaded.source) } : loaded;
      const inThread = "const decoded = " + decoded + "; export const load = async (url, context, next) => decoded(await next(url, context))";
      if (owner.registerHooks) owner.registerHooks({ load: (url, context, next) => decoded(next(url, context)) });
      else owner.register("data:text/javascript," + encodeURIComponent(inThread));`,
    "app.mjs": `import "./hook.cjs"; ${SHOW} show(await import("./built.mjs"));`,
    "built.mjs": bundle("new"),
  });
  assert.deepEqual(run(place, "app.mjs"), { stdout: "new true\n", stderr: "" });
  remove();
});

describe("a process that must not do all that the agent would", () => {
  const PERMISSION = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const hasHooks = "registerHooks" in Module;

  test("is attached if it must not start threads, and a library is named that Node's hooks do not reach then", () => {
    const { place, remove } = directory(PACKAGES, {
      "app.mjs": `import * as built from "./built.mjs"; ${SHOW} show(built);`,
      "built.mjs": bundle("new"),
    });
    const { stdout, stderr } = run(place, "app.mjs", true, [PERMISSION, "--allow-fs-read=*"]);
    assert.equal(stdout, `new ${hasHooks}\n`);
    assert.match(stderr, hasHooks ? /^$/ : /^trafficmock: dataloader in \S+built\.mjs cannot be changed, so .*\n$/);
    remove();
  });

  test("is attached if it must not read the directory of a module that imports what it does not name", () => {
    const { place, remove } = directory(PACKAGES, {
      "app.mjs": `const name = "./other"; console.log((await import(name + ".mjs")).default);`,
      "other.mjs": "export default 1",
    });
    const files = ["app.mjs", "other.mjs"].map((name) => `--allow-fs-read=${join(place, name)}`);
    const words = [PERMISSION, ...files, `--allow-fs-read=${join(PACKAGES, "../")}`];
    assert.deepEqual(run(place, "app.mjs", true, words), { stdout: "1\n", stderr: "" });
    remove();
  });
});

test("a program that is a pipe is left to Node", { skip: process.platform === "win32" }, () => {
  const { place, remove } = directory(PACKAGES, { "text.txt": "console.log('once')" });
  spawnSync("mkfifo", [join(place, "app.mjs")]);
  const writer = spawn("sh", ["-c", "cat text.txt > app.mjs"], { cwd: place });
  try {
    assert.deepEqual(run(place, "app.mjs"), { stdout: "once\n", stderr: "" });
  } finally {
    writer.kill();
    remove();
  }
});

describe("imports end as without the agent, where it changes texts of modules", () => {
  const FILES = {
    "bundle.mjs": bundle("same"),
    "syntax.mjs": "let a = ;",
    "throws.mjs": "throw new RangeError('mine')",
    "throws.cjs": "throw new RangeError('mine')",
    "bad.json": "{",
    "ok.json": "{}",
    "named.mjs": "import { nope } from './ok.mjs';",
    "ok.mjs": "export const a = 1",
    "ok.cjs": "exports.a = 1",
    "bad.wasm": "x",
    "x.unknown": "1",
    "cycle.mjs": "import { b } from './back.mjs'; export const a = b",
    "back.mjs": "import { a } from './cycle.mjs'; export const b = a",
    "missing.cjs": "require('./gone')",
    "bom.mjs": "\uFEFFexport const a = 1",
  };
  const URLS = [
    "data:text/plain,1",
    "data:foo",
    "data:,1",
    "data:text/javascript ;charset=utf-8,export const a = 1",
    "data:text/javascript,let a = ;",
    "data:text/javascript,throw new RangeError('mine')",
    "data:TEXT/JavaScript;charset=utf-8,export const a = 1",
    "data:text/javascript;base64,ZXhwb3J0IGNvbnN0IGEgPSAx",
    "data:text/javascript,%E0%A4%A",
    "data:application/json,{",
    "data:application/wasm;base64,AAAA",
    "nope:x",
    "node:nope",
    "nope",
    "./gone.mjs",
    "./",
    "",
    "./ok.mjs?query",
    "./ok%2Fmjs",
  ];
  const app = `
    const names = ${JSON.stringify([...Object.keys(FILES).map((name) => `./${name}`), ...URLS])};
    const all = {};
    for (const name of names) {
      for (const options of [undefined, { with: { type: "json" } }]) {
        all[name + (options ? " as JSON" : "")] = await import(name, options).then(
          (found) => Object.keys(found),
          (error) => [error?.constructor?.name, error?.name, error?.code, error?.message, error?.stack?.split("\\n")[0]]);
      }
    }
    console.log(JSON.stringify(all));`;
  let place, remove;
  before(() => {
    ({ place, remove } = directory(PACKAGES, {
      ...FILES,
      "bundled.mjs": `import "./bundle.mjs"; ${app}`,
      "urls.mjs": `${app} "data:text/javascript,";`,
    }));
  });
  after(() => remove());
  for (const [way, file] of [
    ["of a bundle", "bundled.mjs"],
    ["of URLs", "urls.mjs"],
  ]) {
    test(way, () => {
      const [ours, plain] = [true, false].map((isAttached) => JSON.parse(run(place, file, isAttached).stdout));
      assert.ok(Object.keys(plain).length > 60);
      assert.deepEqual(ours, plain);
    });
  }
});
