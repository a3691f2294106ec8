"use strict";

const { spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

/** The environment of Python that the proxy runs in: found in the cache directory, or made there from the wheel. */

const PACKAGE = path.resolve(__dirname, "..");
const PYTHONS = ["python3", "python", "py"];
const OLDEST = [3, 11];
const COMPLETE = "complete";
const SHOWN_CHARACTERS = 4000;

class EnvironmentError extends Error {
  name = "EnvironmentError";
}

/**
 * @param {string} [package_] the directory with the wheel
 * @param {string} [cache] the directory of all environments
 * @returns {string} the path of the Python in which `trafficmock` is installed
 * @throws {EnvironmentError} there is none, and none can be made
 */
function pythonOf(package_ = PACKAGE, cache = cacheDirectory()) {
  const wheel = findWheel(package_);
  const [, version] = path.basename(wheel).split("-");
  const digest = createHash("sha256").update(readFileSync(wheel)).digest("hex");
  const directory = path.join(cache, `${version}-${digest.slice(0, 12)}`);
  if (!existsSync(path.join(directory, COMPLETE))) make(directory, wheel, version);
  return interpreter(directory);
}

/** @param {string} package_ */
function findWheel(package_) {
  const found = readdirSync(package_).find((name) => /^trafficmock-.+\.whl$/.test(name));
  if (found) return path.join(package_, found);
  throw new EnvironmentError(
    `${package_} has no wheel of trafficmock: only the published package has it. In a checkout, run pip install '.[testing]'`,
  );
}

/**
 * @param {NodeJS.Platform} [platform]
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {string}
 */
function cacheDirectory(platform = process.platform, env = process.env) {
  const home = os.homedir();
  const { join } = platform === "win32" ? path.win32 : path.posix;
  if (platform === "win32") return join(env.LOCALAPPDATA ?? join(home, "AppData", "Local"), "trafficmock", "Cache");
  const own = env.XDG_CACHE_HOME;
  if (own && path.isAbsolute(own)) return join(own, "trafficmock");
  return platform === "darwin" ? join(home, "Library", "Caches", "trafficmock") : join(home, ".cache", "trafficmock");
}

/**
 * @param {string} directory of an environment
 * @param {NodeJS.Platform} [platform]
 */
function interpreter(directory, platform = process.platform) {
  return platform === "win32"
    ? path.win32.join(directory, "Scripts", "python.exe")
    : path.posix.join(directory, "bin", "python");
}

/**
 * Make an environment beside its place and move it there, so that one that is at its place is complete. `python -m` works in
 * a moved environment, its scripts do not.
 *
 * @param {string} directory
 * @param {string} wheel
 * @param {string} version
 */
function make(directory, wheel, version) {
  const draft = `${directory}.${process.pid}`;
  mkdirSync(path.dirname(directory), { recursive: true });
  process.stderr.write(`trafficmock-proxy: installing trafficmock ${version} into ${directory}, once\n`);
  try {
    const requirement = `trafficmock @ ${pathToFileURL(wheel).href}`;
    const uv = answers("uv", ["--version"]) !== undefined;
    const steps = uv ? withUv(draft, requirement) : withPython(findPython(), draft, requirement);
    for (const [program, ...words] of steps) run(program, words);
    writeFileSync(path.join(draft, COMPLETE), "");
    move(draft, directory);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * @param {string} draft
 * @param {string} requirement
 */
function withUv(draft, requirement) {
  const python = `>=${OLDEST.join(".")}`;
  return [
    ["uv", "venv", "--quiet", "--python", python, draft],
    ["uv", "pip", "install", "--quiet", "--python", interpreter(draft), requirement],
  ];
}

/**
 * @param {string} python
 * @param {string} draft
 * @param {string} requirement
 */
function withPython(python, draft, requirement) {
  const pip = [interpreter(draft), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement];
  return [[python, "-m", "venv", draft], pip];
}

/** @returns {string} */
function findPython() {
  const program = "import sys; print(*sys.version_info[:2])";
  for (const python of PYTHONS) {
    const [major, minor] = (answers(python, ["-c", program]) ?? "0 0").trim().split(" ").map(Number);
    if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return python;
  }
  throw new EnvironmentError(
    `the proxy needs Python ${OLDEST.join(".")} or later, or uv, which brings one: install one of them, so that python3 or uv works`,
  );
}

/**
 * @param {string} program
 * @param {string[]} words
 * @returns {string | undefined} what it wrote; nothing if it cannot be called
 */
function answers(program, words) {
  const done = spawnSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return done.status === 0 ? done.stdout : undefined;
}

/**
 * @param {string} program
 * @param {string[]} words
 */
function run(program, words) {
  const done = spawnSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (done.status === 0) return;
  const said = done.error?.message ?? `${done.stdout}${done.stderr}`.slice(-SHOWN_CHARACTERS);
  throw new EnvironmentError(`\`${[program, ...words].join(" ")}\` failed:\n${said}`);
}

/**
 * @param {string} draft
 * @param {string} directory which another process may have made meanwhile
 */
function move(draft, directory) {
  try {
    renameSync(draft, directory);
  } catch (error) {
    if (!existsSync(path.join(directory, COMPLETE))) throw error;
  }
}

module.exports = { EnvironmentError, cacheDirectory, findWheel, interpreter, pythonOf };
