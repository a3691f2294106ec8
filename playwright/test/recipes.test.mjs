/* The recipes of the documentation, run as a reader does but for the ports. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freePort, makeProject, runProgram } from "./lib/project.mjs";

const FOLDER = "docs/examples/recipes";

test("each recipe does what its page says", async (t) => {
  const { place, remove } = makeProject({ copied: [FOLDER] });
  t.after(remove);
  const folder = join(place, FOLDER);
  const [proxy, shop, other] = await Promise.all([freePort(), freePort(), freePort()]);
  const config = join(folder, "playwright.config.mjs");
  const specs = join(folder, "recipes.spec.mjs");
  for (const file of [config, specs]) {
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("3000", `${shop}`).replaceAll("3001", `${other}`));
  }
  const cli = join(place, "node_modules/@playwright/test/cli.js");
  const env = { TRAFFICMOCK_PROXY_URL: `http://127.0.0.1:${proxy}` };
  const ended = await runProgram(folder, [process.execPath, cli, "test", "--reporter=line"], env);
  assert.equal(ended.status, 0, ended.output);
  const recipes = readFileSync(specs, "utf8").match(/^test\("/gm)?.length ?? 0;
  assert.ok(recipes > 10);
  const counts = [...ended.output.matchAll(/(\d+) (?:passed|skipped)/g)].map(([, count]) => Number(count));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    recipes,
    ended.output,
  );
});
