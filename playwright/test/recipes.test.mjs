/* The recipes of the documentation, run as a reader does but for the ports. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freePort, makeProject, runProgram } from "./lib/project.mjs";

/** Run the specs of a folder, with other ports than those of its files. */
async function run(t, folder, files) {
  const { place, remove } = makeProject({ copied: [folder] });
  t.after(remove);
  const [proxy, one, other] = await Promise.all([freePort(), freePort(), freePort()]);
  for (const file of files.map((file) => join(place, folder, file))) {
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("3000", `${one}`).replaceAll("3001", `${other}`));
  }
  const cli = join(place, "node_modules/@playwright/test/cli.js");
  const env = { TRAFFICMOCK_PROXY_URL: `http://127.0.0.1:${proxy}` };
  const ended = await runProgram(join(place, folder), [process.execPath, cli, "test", "--reporter=line"], env);
  assert.equal(ended.status, 0, ended.output);
  return { ended, place };
}

test("the page of a chat is looked at between two tokens", async (t) => {
  const { ended } = await run(t, "docs/examples/chat", ["playwright.config.mjs", "chat.mjs"]);
  assert.match(ended.output, /2 passed/);
});

test("each recipe does what its page says", async (t) => {
  const folder = "docs/examples/recipes";
  const { ended, place } = await run(t, folder, ["playwright.config.mjs", "recipes.spec.mjs"]);
  const recipes = readFileSync(join(place, folder, "recipes.spec.mjs"), "utf8").match(/^test\("/gm)?.length ?? 0;
  assert.ok(recipes > 10);
  const counts = [...ended.output.matchAll(/(\d+) (?:passed|skipped)/g)].map(([, count]) => Number(count));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    recipes,
    ended.output,
  );
});
