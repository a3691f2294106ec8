"use strict";

const PLAIN = /^[\w./:@%+=,-]+$/;
const PLAIN_ON_WINDOWS = /^[\w./:@+=,\\-]+$/;

/**
 * Write the words of a command as one line, for the shell that `spawn` uses: `/bin/sh`, on Windows `cmd.exe`.
 *
 * @param {readonly string[]} words
 * @param {NodeJS.Platform} [platform]
 * @returns {string}
 */
function commandLine(words, platform = process.platform) {
  return words.map(platform === "win32" ? quotedForWindows : quotedForShell).join(" ");
}

/** @param {string} word */
const quotedForShell = (word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/**
 * Quote a word as programs on Windows read their command line: a backslash is one unless quotes follow it.
 * @see https://learn.microsoft.com/en-us/cpp/c-language/parsing-c-command-line-arguments
 *
 * @param {string} word
 */
function quotedForWindows(word) {
  return PLAIN_ON_WINDOWS.test(word)
    ? word
    : `"${word.replace(/(\\*)("|$)/g, (_, slashes, quote) => slashes + slashes + (quote && '\\"'))}"`;
}

module.exports = { commandLine };
