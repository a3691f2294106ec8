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

/**
 * Write a file that a user has named; one that is there keeps its permissions. A link stays one, and what is no file, as
 * a pipe, is written to as it is.
 *
 * @param {string} file
 * @param {string | Uint8Array} content
 */
function rewriteWhole(file, content) {
  const known = statSync(file, { throwIfNoEntry: false });
  if (known?.isFile()) writeWhole(realpathSync(file), content, known.mode);
  // As a link to a file that is not there yet.
  else if (lstatSync(file, { throwIfNoEntry: false })) writeFileSync(file, content);
  else writeWhole(file, content);
}

module.exports = { rewriteWhole, writeWhole };
