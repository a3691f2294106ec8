import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { startApp } from "../lib/app.mjs";
import { Owners } from "../lib/owners.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";

const APP = fileURLToPath(new URL("next-app", import.meta.url));
const NEXT = "node_modules/next/dist/bin/next";
const PAGE = ["proxy", "metadata", "component", "parallel-1", "parallel-2", "suspense", "after-page"];

function build() {
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
  const built = spawnSync(process.execPath, [NEXT, "build"], { cwd: APP, encoding: "utf8", env });
  assert.equal(built.status, 0, built.stdout + built.stderr);
}

for (const mode of ["dev", "start"]) {
  describe(`Next.js, next ${mode}: parallel tests on one server`, { timeout: 400000 }, () => {
    let proxy, upstream, owners, app;
    const start = (env) =>
      startApp(proxy, APP, [NEXT, mode, "-p", "0", "-H", "127.0.0.1"], { UPSTREAM: upstream.url, ...env });
    before(async () => {
      if (mode === "start") build();
      proxy = await startProxy();
      upstream = await startUpstream();
      owners = await Owners.start(proxy);
      app = await start({});
    });
    after(async () => {
      app?.stop();
      owners?.close();
      await upstream?.stop();
      await proxy?.stop();
    });

    /** @returns {Promise<string>} */
    const get = async (path, name, init = {}) => {
      const response = await fetch(app.url + path, {
        ...init,
        headers: { ...init.headers, ...(name && owners.headers(name)) },
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return text;
    };

    test("a page with its proxy, metadata, streamed part and what it does after", async () => {
      await owners.check(PAGE, async (name) => {
        const page = await get(`/kinds?who=${name}`, name);
        for (const kind of ["metadata", "component", "parallel-1", "suspense"]) {
          assert.match(page, new RegExp(`${name} of ${kind}`));
        }
      });
    });

    test("route handlers", async () => {
      await owners.check(["handler", "after-handler", "handler-body"], async (name) => {
        assert.equal(await get(`/api/kinds?who=${name}`, name), `${name} of handler`);
        const body = JSON.stringify({ who: name });
        assert.equal(await get("/api/kinds", name, { method: "POST", body }), `${name} of handler-body`);
      });
    });

    test("a server action", async () => {
      const [, id] = /name="(\$ACTION_ID_[0-9a-f]+)"/.exec(await get("/act"));
      await owners.check(["action"], async (name) => {
        const body = new FormData();
        body.append(id, "");
        body.append("who", name);
        await get("/act", name, { method: "POST", body });
      });
    });

    test("the pages router", async () => {
      await owners.check(["server-side-props", "pages-api"], async (name) => {
        assert.match(await get(`/old?who=${name}`, name), new RegExp(`${name} of server-side-props`));
        assert.equal(await get(`/api/old?who=${name}`, name), `${name} of pages-api`);
      });
    });

    /** @returns {Promise<number[]>} how often the server was asked for each request */
    async function asked(way, key, names) {
      const counts = [];
      for (const name of names) {
        upstream.seen.length = 0;
        await get(`/api/kept?way=${way}&key=${key}`, name);
        counts.push(upstream.seen.length);
      }
      return counts;
    }

    const IN_TURNS = ["A", "A", "B", "B", undefined, undefined];

    test("the Data Cache keeps tests apart, and what has no test", async () => {
      await get("/api/kept?way=force-cache&key=warm");
      for (const way of ["force-cache", "revalidate"]) {
        assert.deepEqual(await asked(way, Date.now(), IN_TURNS), [1, 0, 1, 0, 1, 0], way);
      }
    });

    test("revalidateTag forgets it for all", async () => {
      const key = Date.now();
      assert.deepEqual(await asked("revalidate", key, ["A", "B"]), [1, 1]);
      await get("/api/kept", "A", { method: "DELETE" });
      assert.deepEqual(await asked("revalidate", key, ["A", "B", "B"]), [1, 1, 0]);
    });

    test("unstable_cache does not: its key has no headers", async () => {
      assert.deepEqual(await asked("unstable_cache", Date.now(), IN_TURNS), [1, 0, 0, 0, 0, 0]);
    });

    test("without the key of fetch, the Data Cache gives one test what another one got", async () => {
      app.stop();
      app = await start({ TRAFFICMOCK_FETCH_KEY: "0" });
      await get("/api/kept?way=force-cache&key=warm");
      assert.deepEqual(await asked("force-cache", Date.now(), IN_TURNS), [1, 0, 0, 0, 0, 0]);
    });
  });
}
