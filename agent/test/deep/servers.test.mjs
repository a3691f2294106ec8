import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { startApp } from "../lib/app.mjs";
import { Owners } from "../lib/owners.mjs";
import { startProxy } from "../lib/proxy.mjs";

const PLACE = fileURLToPath(new URL("servers", import.meta.url));

/** The calls that one request leads to, and what its answer says. */
const SERVERS = {
  "express.cjs": {
    kinds: ["middleware", "parameter", "handler", "error-handler", "finish"],
    said: (name) => `${name} of handler, ${name} of error-handler`,
  },
  "fastify.cjs": {
    kinds: ["on-request", "preParsing", "preValidation", "preHandler", "handler", "on-send", "on-response"],
    said: (name) => `${name} of handler, ${name} of on-send`,
  },
  "koa.cjs": {
    kinds: ["before", "handler", "behind", "finish"],
    said: (name) => `${name} of handler, ${name} of behind`,
  },
};

describe("parallel tests on one server, by NODE_OPTIONS alone", () => {
  let proxy, owners;
  before(async () => {
    proxy = await startProxy();
    owners = await Owners.start(proxy);
  });
  after(async () => {
    owners?.close();
    await proxy?.stop();
  });

  for (const [name, { kinds, said }] of Object.entries(SERVERS)) {
    test(name, { timeout: 60000 }, async (t) => {
      const app = await startApp(proxy, PLACE, [name]);
      t.after(() => app.stop());
      await owners.check(kinds, async (who) => {
        const headers = { "content-type": "application/json", ...owners.headers(who) };
        const response = await fetch(`${app.url}/${who}?who=${who}`, {
          method: "POST",
          headers,
          body: JSON.stringify({ who }),
        });
        assert.equal(await response.text(), said(who));
      });
    });
  }

  test("without contexts they are ambiguous", { timeout: 60000 }, async (t) => {
    const app = await startApp(proxy, PLACE, ["koa.cjs"], { TRAFFICMOCK_CONTEXT: "0" });
    t.after(() => app.stop());
    const response = await fetch(`${app.url}/?who=A`, {
      method: "POST",
      headers: owners.headers("A"),
      body: '{"who":"A"}',
    });
    assert.equal(response.status, 500);
    const { entries } = await proxy.get("/api/history?limit=1");
    assert.match(JSON.stringify(entries), /ambiguous_route/);
  });
});
