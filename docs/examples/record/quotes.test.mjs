import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "trafficmock-playwright/core";

test("a quote", async (t) => {
  const mocks = await connect({ title: t.name, file: import.meta.filename });
  t.after(() => mocks.end({ failed: !t.passed }));
  await mocks.routeFromHAR("hars/quotes.har", {
    mode: "once",
    matchOn: ["method", "path", "json"],
    ignore: ["json:request_id", "json:sent_at"],
    inOrder: true,
  });
  const address = `http://127.0.0.1:${process.env.QUOTES_PORT ?? 3000}/quote/5`;
  const answer = await fetch(address, { headers: mocks.headers });
  assert.deepEqual(await answer.json(), { price: 60 });
});
