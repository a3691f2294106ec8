import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url.replace("/lib/", "/deep/"));

/**
 * Run a tool of the folder `deep` as a developer starts it; the program that it starts makes the calls.
 *
 * A tool does not hand open pipes down, so the program opens those of this process, by their names under `/proc`.
 * A tool that watches files goes on when the program has ended: the program ends it with a signal to this process.
 *
 * @param {string} name the npm package
 * @param {string} bin its command, as its `package.json` names it
 * @param {string[]} args
 * @param {{ stdout?: "inherit" | "ignore", left?: RegExp }} [options] what it prints is not compared where it tells times;
 *   lines of its errors that match `left` are not compared either
 */
export function runTool(name, bin, args, { stdout = "inherit", left } = {}) {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin: bins } = require(manifest);
  const file = join(dirname(manifest), typeof bins === "string" ? bins : bins[bin]);
  const pipes = process.env.BENCH_FDS.split(",").map((each) => `/proc/${process.pid}/fd/${each}`);
  const env = { ...process.env, BENCH_FDS: pipes.join(","), BENCH_TOOL: String(process.pid) };
  const tool = spawn(process.execPath, [file, ...args], { env, stdio: ["ignore", stdout, left ? "pipe" : "inherit"] });
  if (left) {
    const lines = createInterface(/** @type {import('node:stream').Readable} */ (tool.stderr));
    lines.on("line", (line) => left.test(line) || process.stderr.write(`${line}\n`));
  }
  let isEnded = false;
  process.on("SIGUSR2", () => {
    isEnded = true;
    tool.kill("SIGTERM");
  });
  tool.on("exit", (code, signal) => {
    // A tool that is ended may end with 0 or with 143, as quick as it and its program are.
    process.exitCode = isEnded ? 0 : signal ? 1 : code;
  });
}

/** End the tool that watches this program. */
export const endTool = () => process.kill(Number(process.env.BENCH_TOOL), "SIGUSR2");
