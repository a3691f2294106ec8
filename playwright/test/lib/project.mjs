/*
 * Makes a project as a user has it: our packages and Playwright are in its node_modules, as npm installs them, so that
 * all parts see one Playwright.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const ROOT = join(PACKAGE, "..");
const PYTHON = process.env.TRAFFICMOCK_TEST_PYTHON ?? "python3";
const RUN_MS = 300_000;
const RUNNER = [process.execPath, "node_modules/@playwright/test/cli.js", "test"];
/** What npm puts into a package of ours. */
const PACKED = [
  "src",
  "package.json",
  "index.mjs",
  "core.mjs",
  "config.mjs",
  "llm.mjs",
  "reporter.mjs",
  "register.js",
  "*.d.ts",
];

/**
 * @param {{ specs?: string, files?: Record<string, string>, playwright?: string, copied?: string[], linked?: string[] }}
 *   [options] `specs` is a directory of `test/specs`, `files` are written, `playwright` is where another version of
 *   `@playwright/test` is installed, `copied` and `linked` are files and directories of this repository that the
 *   project has in the same places
 */
export function makeProject({
  specs,
  files = {},
  playwright = join(PACKAGE, "node_modules", "@playwright", "test"),
  copied = [],
  linked = [],
} = {}) {
  const place = mkdtempSync(join(tmpdir(), "trafficmock-project-"));
  const modules = join(place, "node_modules");
  install(PACKAGE, join(modules, "trafficmock-playwright"));
  install(join(ROOT, "agent"), join(modules, "trafficmock-agent"));
  for (const name of ["fflate", "mime-types", "mime-db"]) {
    link(join(PACKAGE, "node_modules", name), join(modules, name));
  }
  link(join(ROOT, "agent", "node_modules", "ws"), join(modules, "ws"));
  link(playwright, join(modules, "@playwright", "test"));
  if (specs) cpSync(join(PACKAGE, "test", "specs", specs), join(place, "specs"), { recursive: true });
  cpSync(join(PACKAGE, "test", "apps"), join(place, "apps"), { recursive: true });
  for (const path of copied) cpSync(join(ROOT, path), join(place, path), { recursive: true });
  for (const path of linked) link(join(ROOT, path), join(place, path));
  for (const [name, content] of Object.entries({ "package.json": '{ "type": "module" }', ...files })) {
    writeFileSync(join(place, name), content);
  }
  return {
    place,
    run: (args, env = {}) => runProgram(place, [...RUNNER, ...args], env),
    begin: (args, env = {}) => beginProgram(place, [...RUNNER, ...args], env),
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** Copy a package: a link would let it see the modules of this checkout. */
function install(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of PACKED) {
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name), { recursive: true });
  }
}

function link(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to);
}

/**
 * Run a program to its end, with `trafficmock` on the path.
 * @returns {Promise<{ status: number | null, output: string }>}
 */
export async function runProgram(cwd, argv, env) {
  const program = beginProgram(cwd, argv, env);
  const status = await program.ended;
  return { status, output: program.output() };
}

/**
 * Begin a program.
 *
 * @returns {{ said(pattern: RegExp): Promise<RegExpExecArray>, output(): string, ended: Promise<number | null>,
 *   stop(): Promise<unknown> }} `said` settles when its output matches
 */
export function beginProgram(cwd, [program, ...args], env = {}) {
  const child = spawn(program, args, {
    cwd,
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      // Node's runner does nothing where it is told that it is the child of one.
      NODE_TEST_CONTEXT: undefined,
      PATH: `${dirname(PYTHON)}${delimiter}${process.env.PATH}`,
      PYTHONPATH: ROOT,
      PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "1",
      FORCE_COLOR: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: RUN_MS,
    // At this signal Playwright ends what it started.
    killSignal: "SIGINT",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const ended = once(child, "close").then(([status]) => status);
  const said = async (pattern) => {
    for (;;) {
      const match = pattern.exec(output);
      if (match) return match;
      const isOver = await Promise.race([ended.then(() => true), once(child.stdout, "data")]);
      if (isOver === true && !pattern.test(output)) throw new Error(`it ended without ${pattern}:\n${output}`);
    }
  };
  const stop = () => {
    child.kill("SIGINT");
    return ended;
  };
  return { said, output: () => output, ended, stop };
}

/** @returns {Promise<number>} a port that nobody listens on */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
