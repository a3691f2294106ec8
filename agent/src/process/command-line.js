"use strict";

/** The limit of the command line in `hello`; code points. */
const LONGEST = 1000;

/** A word that needs no quotes in a POSIX shell. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * Write the command line of a process, for lists of connected processes.
 * @param {string[]} argv `process.argv`
 * @returns {string} quoted for a POSIX shell; cut at 1,000 code points
 */
function commandLine(argv) {
  const words = argv.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  // By code points: parsers of JSON refuse half a surrogate pair.
  return [...words.join(" ")].slice(0, LONGEST).join("");
}

module.exports = { commandLine };
