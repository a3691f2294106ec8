import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { createRequire } from "node:module";

const { commandLine } = createRequire(import.meta.url)("../src/command-line.js");

const WORDS = ["serve", "it's", "two words", 'a "quoted" one', "**/api?x=$HOME&y=1", "back\\slash\\", ""];

test("a shell reads the words as they were", () => {
  const program = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
  const line = commandLine([process.execPath, "--eval", program, "--", ...WORDS], "linux");
  assert.deepEqual(JSON.parse(execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" })), WORDS);
});

test("on Windows words are quoted as programs read their command line", () => {
  assert.equal(commandLine(["C:\\py\\python.exe", "-m", "trafficmock"], "win32"), "C:\\py\\python.exe -m trafficmock");
  assert.equal(
    commandLine(WORDS, "win32"),
    'serve "it\'s" "two words" "a \\"quoted\\" one" "**/api?x=$HOME&y=1" back\\slash\\ ""',
  );
  assert.equal(commandLine(["C:\\Program Files\\"], "win32"), '"C:\\Program Files\\\\"');
});
