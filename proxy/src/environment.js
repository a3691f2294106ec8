"use strict";

const { spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const { existsSync, readFileSync, readdirSync, realpathSync, renameSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { cacheDirectory, checkPrivate, discard, draftOf, isOwnFile, makeCache, sweep } = require("./cache.js");
const { EnvironmentError } = require("./errors.js");

/** The environment of Python that the proxy runs in: found in the cache directory, or made there from the wheel. */

const PACKAGE = path.resolve(__dirname, "..");
const PYTHONS = ["python3", "python", "py"];
const OLDEST = [3, 11];
const COMPLETE = "complete";
const SHOWN_CHARACTERS = 4000;

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
  try {
    checkPrivate(existsSync(directory) ? directory : cache);
    if (!isWhole(directory)) make(directory, wheel, version);
    return interpreter(directory);
  } catch (error) {
    if (error instanceof EnvironmentError || !isOfSystem(error)) throw error;
    throw new EnvironmentError(
      `no environment of Python can be made in ${cache}: ${error.message}. Set XDG_CACHE_HOME to a directory that can be written`,
    );
  }
}

/** @param {unknown} error @returns {error is NodeJS.ErrnoException} whether a call of the system failed, as on a full disk */
const isOfSystem = (error) => error instanceof Error && typeof (/** @type {any} */ (error).syscall) === "string";

/**
 * Whether an environment has all that it had when it was made: cleaners of caches remove parts of it, and an upgrade of
 * Python takes its interpreter away.
 *
 * @param {string} directory
 */
function isWhole(directory) {
  try {
    const { python, files } = JSON.parse(readFileSync(path.join(directory, COMPLETE), "utf8"));
    const isThere = (/** @type {string} */ file) => existsSync(path.join(directory, file));
    const isSame = python === "" || realpathSync(interpreter(directory)) === python;
    return isSame && [interpreter(""), ...files].every(isThere);
  } catch {
    // Without the file, with one that is cut, and without the interpreter it is not.
    return false;
  }
}

/**
 * @param {string} directory of an environment that is whole now
 * @returns {string} what {@link isWhole} compares: the Python that it is linked to, if any, and what is installed
 */
function inventory(directory) {
  const found = ["lib", "Lib"].flatMap((lib) => sitePackages(directory, lib));
  const files = found.flatMap((place) =>
    readdirSync(path.join(directory, place)).map((name) => path.join(place, name)),
  );
  const main = files.find((file) => path.basename(file) === "trafficmock");
  if (!main) throw new EnvironmentError("nothing failed, but the package trafficmock is not among what was installed");
  const python = realpathSync(interpreter(directory));
  return JSON.stringify({
    python: path.relative(realpathSync(directory), python).startsWith("..") ? python : "",
    // Python makes __pycache__ anew.
    files: [...files.filter((file) => path.basename(file) !== "__pycache__"), path.join(main, "__main__.py")],
  });
}

/** @param {string} directory @param {string} lib @returns {string[]} the directories of packages, relative to the environment */
function sitePackages(directory, lib) {
  const place = path.join(directory, lib);
  if (!existsSync(place)) return [];
  const found = ["site-packages", ...readdirSync(place).map((name) => path.join(name, "site-packages"))];
  return found.map((each) => path.join(lib, each)).filter((each) => existsSync(path.join(directory, each)));
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
 * @param {string} directory of an environment
 * @param {NodeJS.Platform} [platform]
 */
function interpreter(directory, platform = process.platform) {
  return platform === "win32"
    ? path.win32.join(directory, "Scripts", "python.exe")
    : path.posix.join(directory, "bin", "python");
}

/**
 * Make an environment beside its place and move it there, so that one that is at its place is complete, or was.
 *
 * @param {string} directory
 * @param {string} wheel
 * @param {string} version
 */
function make(directory, wheel, version) {
  const draft = draftOf(directory);
  const cache = path.dirname(directory);
  makeCache(cache);
  checkPrivate(cache);
  sweep(cache);
  process.stderr.write(`trafficmock-proxy: installing trafficmock ${version} into ${directory}, once\n`);
  try {
    const requirement = `trafficmock @ ${pathToFileURL(wheel).href}`;
    const uv = answers("uv", ["--version"]) !== undefined;
    const steps = uv ? withUv(draft, requirement) : withPython(findPython(), draft, requirement);
    for (const [program, ...words] of steps) run(program, words);
    nameAs(directory, draft);
    writeFileSync(path.join(draft, COMPLETE), inventory(draft));
    move(draft, directory);
  } finally {
    discard(draft);
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
 * Write the place where an environment will be into its scripts, which have that where it was made. On Windows they are
 * programs; `python -m` works there, too.
 *
 * @param {string} directory
 * @param {string} draft
 */
function nameAs(directory, draft) {
  const scripts = path.dirname(interpreter(draft));
  for (const file of readdirSync(scripts).map((name) => path.join(scripts, name))) {
    if (process.platform === "win32" || !isOwnFile(file)) continue;
    const bytes = readFileSync(file);
    if (bytes.includes(draft) && !bytes.includes(0)) {
      writeFileSync(
        file,
        bytes.toString().replaceAll(draft, () => directory),
      );
    }
  }
}

/**
 * @param {string} draft
 * @param {string} directory which another process may have made meanwhile; one that is not whole is replaced
 */
function move(draft, directory) {
  if (isWhole(directory)) return;
  const old = `${draft}.old`;
  if (existsSync(directory)) renameSync(directory, old);
  try {
    renameSync(draft, directory);
  } catch (error) {
    if (!isWhole(directory)) throw error;
  } finally {
    discard(old);
  }
}

module.exports = { findWheel, interpreter, pythonOf };
