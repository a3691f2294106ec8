"use strict";

const { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { EnvironmentError } = require("./errors.js");

/** The cache directory of the environments: where it is, who may write it, and what others left there. */

const OTHERS_MAY_WRITE = 0o022;
const ALL_MAY_WRITE = 0o002;
const STICKY = 0o1000;
const ROOT = 0;
const HOST = os.hostname().replace(/[^\w-]/g, "-");
/** An environment that is being made, by the host and the process that make it; older versions named only the process. */
const DRAFT = /^.+-[0-9a-f]{12}\.(?:([\w-]+)\.)?(\d+)(?:\.old)?$/;

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
 * Make the cache directory, for its owner alone.
 *
 * @param {string} cache
 */
function makeCache(cache) {
  if (existsSync(cache)) return;
  mkdirSync(cache, { recursive: true });
  chmodSync(cache, 0o700);
}

/**
 * Refuse a directory into which others than its user and root can put programs, which this user would then run, as the proxy
 * refuses one for its certificates. Windows has no such bits.
 *
 * @param {string} directory
 * @throws {EnvironmentError} it is such a directory, or below one
 */
function checkPrivate(directory) {
  const user = process.geteuid?.();
  if (user === undefined || !existsSync(directory)) return;
  const { uid } = statSync(directory);
  if (uid !== user && uid !== ROOT) {
    throw new EnvironmentError(
      `${directory} belongs to user ${uid}, not to user ${user}, which this process runs as, or root: its owner could put ` +
        "a program there that this one would run. Remove it, or set XDG_CACHE_HOME to a directory of your own",
    );
  }
  for (
    let [place, forbidden] = [directory, OTHERS_MAY_WRITE];
    ;
    [place, forbidden] = [path.dirname(place), ALL_MAY_WRITE]
  ) {
    const { mode } = statSync(place);
    // On the way, the group is often the user's own; in a directory such as /tmp nobody can rename what is another's.
    if (mode & forbidden && !(place !== directory && mode & STICKY)) {
      throw new EnvironmentError(
        `${place} can be written by others than its owner, who could put a program there that this one would run. ` +
          `Run: chmod go-w ${place}, or set XDG_CACHE_HOME to a directory of your own`,
      );
    }
    if (path.dirname(place) === place) return;
  }
}

/** @param {string} directory @returns {string} the place beside an environment where this process makes it */
const draftOf = (directory) => `${directory}.${HOST}.${process.pid}`;

/**
 * Remove what processes left that were killed while they made an environment.
 *
 * @param {string} cache
 */
function sweep(cache) {
  for (const name of readdirSync(cache)) {
    const [, host, pid] = DRAFT.exec(name) ?? [];
    if (!pid || (host && host !== HOST) || isAlive(Number(pid))) continue;
    discard(path.join(cache, name));
  }
}

/** What removing a directory fails with while another program still writes there. */
const IN_USE = ["ENOTEMPTY", "EBUSY", "EPERM"];

/**
 * Remove a directory, or leave it to a later start: pip goes on for a while when the process that began it is killed.
 *
 * @param {string} directory
 */
function discard(directory) {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    if (!IN_USE.includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? "")) throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}

/** @param {string} file @returns {boolean} whether it is a file of its own, no link */
const isOwnFile = (file) => lstatSync(file).isFile();

module.exports = { cacheDirectory, checkPrivate, discard, draftOf, isOwnFile, makeCache, sweep };
