import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { startApp } from "./lib/app.mjs";
import { startProxy } from "./lib/proxy.mjs";
import { startWorker } from "./lib/worker.mjs";

const APPS = fileURLToPath(new URL("apps", import.meta.url));

/** Servers as people write them, which the documentation shows: nothing in them knows of trafficmock. */
const SERVERS = { "express.cjs": ["/fetch", "/axios"], "fastify.cjs": ["/fetch", "/axios"], "plain.mjs": ["/fetch"] };

describe("servers by NODE_OPTIONS alone", () => {
  let proxy, worker;
  before(async () => {
    proxy = await startProxy();
    worker = await startWorker(proxy.url);
    await worker.route("prices.test", (r) => r.text(`mock of ${new URL(r.request.url).pathname}`));
  });
  after(async () => {
    worker.close();
    await proxy.stop();
  });

  const check = async (name, paths, preload) => {
    const env = { PORT: "0", ...(preload === undefined && { TRAFFICMOCK_CLIENT_ID: name }) };
    const app = await startApp(proxy, APPS, [name], env, preload);
    try {
      for (const path of paths) assert.equal(await (await fetch(app.url + path)).text(), `mock of ${path}`);
    } finally {
      app.stop();
    }
  };

  for (const [name, paths] of Object.entries(SERVERS)) {
    test(name, async () => {
      await check(name, paths);
      const { entries } = await proxy.get("/api/history");
      assert.equal(entries.filter(({ clientId }) => clientId === name).length, paths.length);
    });
  }

  test("a server that attaches itself by a call", async () => {
    // It names the package as an application would, which this package may do itself.
    await check("by-call.mjs", ["/called"], "");
    const { entries } = await proxy.get("/api/history");
    const { clientId } = entries.find(({ request }) => request.url.endsWith("/called"));
    assert.equal(clientId, "prices");
  });
});
