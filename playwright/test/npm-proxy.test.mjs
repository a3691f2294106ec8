/* The npm proxy 0.1.8 in the place of ours: what it has works, and what it does not have is refused in words. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { connect } from "trafficmock-playwright/core";
import { startNpmProxy } from "../../agent/test/lib/proxy.mjs";
import { startShop } from "./lib/shop.mjs";

describe("on the npm proxy", () => {
  let proxy;
  let shop;

  before(async () => {
    proxy = await startNpmProxy();
    shop = await startShop(proxy.url);
  });

  after(async () => {
    await shop.stop();
    await proxy.stop();
  });

  const begin = (options) => connect({ title: "on the npm proxy", proxyUrl: proxy.url, baseURL: shop.url, ...options });

  test("routes answer by URL, without a context", async () => {
    const mocks = await begin();
    await mocks.route("**/price/*", (route) => route.fulfill({ json: { price: 3 } }));
    assert.match(await (await fetch(`${shop.url}/price/cup`, { headers: mocks.headers })).text(), /"price">3</);
    assert.deepEqual([mocks.id, mocks.headers, mocks.proxy], [undefined, {}, undefined]);
    assert.throws(() => mocks.cookie(), /the proxy knows none/);
    await mocks.end();
  });

  test("what it does not have is refused at once", async () => {
    const lacks = `the proxy at ${proxy.url} `;
    await assert.rejects(begin({ isolation: "required" }), new RegExp(`${lacks}knows no contexts`));
    await assert.rejects(begin({ strict: true }), new RegExp(`strict mode is asked for, and ${lacks}does not have it`));
    const mocks = await begin();
    for (const call of ["strict", "unmatched"]) {
      await assert.rejects(mocks[call](), new RegExp(`${lacks}does not have it`));
    }
    await mocks.end();
  });
});
