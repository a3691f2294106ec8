"use strict";

/** The longest command line that the proxy is told; code points. */
const LONGEST = 1000;

/** What a POSIX shell reads as one word without quotes. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * The command line that tells one process from another in a list of them.
 * @param {string[]} argv as `process.argv`
 * @returns {string} quoted as a POSIX shell reads it; cut at 1,000 characters
 */
function commandLine(argv) {
  const words = argv.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  // By code points: half a surrogate pair is refused by readers of JSON.
  return [...words.join(" ")].slice(0, LONGEST).join("");
}

module.exports = { commandLine };
