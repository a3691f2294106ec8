"use strict";

const { randomBytes } = require("node:crypto");
const { chmodSync, lstatSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");

/* As trafficmock/whole_files.py. */

/**
 * Write a file so that readers have the old or the new one, whole.
 *
 * @param {string} file
 * @param {string | Uint8Array} content
 * @param {number} [mode] its permissions, else those of new files
 */
function writeWhole(file, content, mode) {
  // The name of the file may be as long as names may be.
  const draft = join(dirname(file), `.${randomBytes(8).toString("hex")}`);
  try {
    writeFileSync(draft, content, { mode });
    // The umask took some of them away.
    if (mode) chmodSync(draft, mode);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The errors where the directory may not be changed, or the file alone is mounted. */
const NOT_REPLACED = ["EACCES", "EBUSY", "EPERM", "EROFS"];

/**
 * Write a file that a user has named; one that is there keeps its permissions. A link stays one. What is no file, as a
 * pipe, is written to as it is, and so is a file that cannot be replaced.
 *
 * @param {string} file
 * @param {string | Uint8Array} content
 */
function rewriteWhole(file, content) {
  const known = statSync(file, { throwIfNoEntry: false });
  if (known?.isFile()) {
    try {
      return writeWhole(realpathSync(file), content, known.mode);
    } catch (error) {
      if (!NOT_REPLACED.includes(String(/** @type {NodeJS.ErrnoException} */ (error).code))) throw error;
    }
  }
  // As a link to a file that is not there yet.
  if (lstatSync(file, { throwIfNoEntry: false })) writeFileSync(file, content);
  else writeWhole(file, content);
}

module.exports = { rewriteWhole, writeWhole };
