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
