import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { startApp } from "../lib/app.mjs";
import { Owners } from "../lib/owners.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const APP = fileURLToPath(new URL("nest-app", import.meta.url));

function build() {
  const built = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."], {
    cwd: APP,
    encoding: "utf8",
  });
  assert.equal(built.status, 0, built.stdout);
}

test("NestJS: its HttpService and fetch, by NODE_OPTIONS alone", { timeout: 120000 }, async () => {
  build();
  const proxy = await startProxy();
  const worker = await startWorker(proxy.url);
  await worker.route("nowhere.test", (r) => r.text(`mock of ${new URL(r.request.url).pathname}`));
  const app = await startApp(proxy, APP, ["dist/main.js"]);
  try {
    for (const path of ["/service", "/fetch"]) {
      assert.equal(await (await fetch(app.url + path)).text(), `mock of ${path}`);
    }
    const { entries } = await proxy.get("/api/history");
    assert.deepEqual(
      entries.map(({ clientId }) => clientId),
      ["nest-shop", "nest-shop"],
    );
  } finally {
    app.stop();
    worker.close();
    await proxy.stop();
  }
});

test("NestJS: parallel tests, in a guard, an interceptor and an observable", { timeout: 120000 }, async (t) => {
  build();
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const owners = await Owners.start(proxy);
  t.after(() => owners.close());
  const app = await startApp(proxy, APP, ["dist/parallel.js"]);
  t.after(() => app.stop());
  await owners.check(["guard", "before", "observable", "behind"], async (who) => {
    const headers = { "content-type": "application/json", ...owners.headers(who) };
    const init = { method: "POST", headers, body: JSON.stringify({ who }) };
    const said = await (await fetch(`${app.url}/kinds?who=${who}`, init)).text();
    assert.equal(said, `${who} of observable, ${who} of behind`);
  });
});
