import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { startApp } from "../lib/app.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const APP = fileURLToPath(new URL("next-app", import.meta.url));

test(
  "Next.js: a server component, a route handler and a server action, by NODE_OPTIONS alone",
  { timeout: 120000 },
  async () => {
    const proxy = await startProxy();
    const worker = await startWorker(proxy.url);
    await worker.route("nowhere.test", (r) => r.text(`mock of ${new URL(r.request.url).pathname}`));
    const app = await startApp(proxy, APP, ["node_modules/next/dist/bin/next", "dev", "-p", "0", "-H", "127.0.0.1"]);
    try {
      const page = await (await fetch(app.url)).text();
      assert.match(page, /mock of \/component/);
      assert.equal(await (await fetch(`${app.url}/api/data`)).text(), "mock of /handler");
      const form = new FormData();
      form.append(/name="(\$ACTION_ID_[0-9a-f]+)"/.exec(page)[1], "");
      await (await fetch(app.url, { method: "POST", body: form })).text();
      await until(proxy, "/api/history", ({ entries }) =>
        entries.some(({ request, action }) => request.url.endsWith("/action") && action === "fulfill"),
      );
      const { entries } = await proxy.get("/api/history");
      assert.ok(
        entries.every(({ clientId }) => clientId.startsWith("next-shop")),
        entries.map(({ clientId }) => clientId).join(),
      );
    } finally {
      app.stop();
      worker.close();
      await proxy.stop();
    }
  },
);

test("Next.js: parallel tests each get their own answers, also from the Data Cache", { timeout: 180000 }, async () => {
  const proxy = await startProxy();
  const ids = { A: "a".repeat(32), B: "b".repeat(32) };
  const workers = await Promise.all(Object.values(ids).map((context) => startWorker(proxy.url, { context })));
  const asked = [];
  for (const [at, name] of Object.keys(ids).entries()) {
    await workers[at].route("nowhere.test", (r) => {
      if (r.request.url.includes("/cached")) asked.push(name);
      r.text(`${name} of ${new URL(r.request.url).pathname}`);
    });
  }
  const app = await startApp(proxy, APP, ["node_modules/next/dist/bin/next", "dev", "-p", "0", "-H", "127.0.0.1"]);
  const get = async (path, name) =>
    (await fetch(app.url + path, { headers: { baggage: `trafficmock.test=${ids[name]}` } })).text();
  try {
    await get("/", "A");
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        Object.keys(ids).map(async (name) => {
          assert.match(await get("/", name), new RegExp(`${name} of /component`));
          assert.equal(await get("/api/data", name), `${name} of /handler`);
        }),
      );
    }
    const cached = `/api/cached?key=${Date.now()}`;
    for (const name of ["A", "A", "B", "B"]) assert.equal(await get(cached, name), `${name} of /cached`);
    assert.deepEqual(asked, ["A", "B"]);
  } finally {
    app.stop();
    for (const worker of workers) worker.close();
    await proxy.stop();
  }
});
