import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { startApp } from "../lib/app.mjs";
import { Owners } from "../lib/owners.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

const APP = fileURLToPath(new URL("nuxt-app", import.meta.url));
const NUXT = "node_modules/nuxt/bin/nuxt.mjs";

const STARTS = {
  "as built": [".output/server/index.mjs"],
  "nuxt dev": [NUXT, "dev", "--port", "0", "--host", "127.0.0.1"],
};

for (const [name, command] of Object.entries(STARTS)) {
  test(
    `Nuxt, ${name}: a page's useFetch and a Nitro route, by NODE_OPTIONS alone, and parallel tests of them`,
    { timeout: 240000 },
    async () => {
      if (name === "as built") {
        const built = spawnSync(process.execPath, [NUXT, "build"], {
          cwd: APP,
          encoding: "utf8",
          env: { ...process.env, NUXT_TELEMETRY_DISABLED: "1" },
        });
        assert.equal(built.status, 0, built.stdout + built.stderr);
      }
      const proxy = await startProxy();
      let owners;
      const worker = await startWorker(proxy.url);
      await worker.route("nowhere.test", (r) => r.text(`mock of ${new URL(r.request.url).pathname}`));
      const app = await startApp(proxy, APP, command, { PORT: "0", HOST: "127.0.0.1" });
      try {
        assert.equal(await (await fetch(`${app.url}/api/data`)).text(), "mock of /route");
        assert.match(await (await fetch(app.url)).text(), /<p>mock of \/page<\/p>/);
        const { entries } = await proxy.get("/api/history");
        const ours = entries.filter(({ request }) => request.url.includes("nowhere.test"));
        assert.ok(
          ours.length === 2 && ours.every(({ clientId }) => clientId.startsWith("nuxt-shop")),
          ours.map(({ clientId }) => clientId).join(),
        );
        owners = await Owners.start(proxy);
        await owners.check(["middleware", "handler", "wait-until"], async (who) => {
          const headers = { "content-type": "application/json", ...owners.headers(who) };
          const init = { method: "POST", headers, body: JSON.stringify({ who }) };
          assert.equal(await (await fetch(`${app.url}/api/kinds?who=${who}`, init)).text(), `${who} of handler`);
        });
        await owners.check(["middleware", "use-fetch", "async-data"], async (who) => {
          const page = await (await fetch(`${app.url}/kinds?who=${who}`, { headers: owners.headers(who) })).text();
          assert.match(page, new RegExp(`<p>${who} of use-fetch, ${who} of async-data</p>`));
        });
      } finally {
        app.stop();
        worker.close();
        owners?.close();
        await proxy.stop();
      }
    },
  );
}
