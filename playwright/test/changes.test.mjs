/* What the parts of a changed request and of a mock become. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const { sentOptions } = require("../src/arguments/sent-options.js");
const overriding = require("../src/arguments/request-overrides.js");
const { Request } = require("../src/objects/request.js");
const { RequestState } = require("../src/session/request-state.js");
const { RoutedRequest } = require("../src/session/routed-request.js");

const stateWith = (overrides, bodyBase64 = null) => {
  const wire = { method: "POST", url: "http://h.test/", headers: {}, bodyBase64 };
  return new RequestState({ id: "r1", clientId: "shop", wire, overrides });
};

test("an empty URL or method and null change nothing", () => {
  for (const nothing of ["", null, undefined]) {
    assert.deepEqual(overriding.read({ url: nothing, method: nothing, postData: null }), {});
  }
  assert.deepEqual(overriding.read({ headers: null }), {});
  assert.deepEqual(overriding.read({ url: "http://h.test/after" }), { url: "http://h.test/after" });
  const error = { name: "UsageError", message: "url must be a string, not number" };
  assert.throws(() => overriding.read({ url: 5 }), error);
});

test("nor do they for the fetch of a handler", () => {
  const routed = new RoutedRequest({ baseURL: "http://shop.test" }, stateWith({}), {}, "run");
  assert.deepEqual(routed.fetchChanges({ url: null, method: "", headers: null }), {});
  assert.equal(routed.fetchChanges({ url: "/a" }).url, "http://shop.test/a");
});

test("the error of a text that is no URL has nothing of its query", () => {
  const wrong = "https://me:s-1@[h.test/a?token=s-4711#s-2";
  const error = { name: "UsageError", message: 'invalid URL: "https://...@[h.test/a?…"' };
  const routed = new RoutedRequest({ baseURL: "http://shop.test" }, stateWith({}), {}, "run");
  assert.throws(() => overriding.checkScheme(stateWith({}), { url: wrong }), error);
  assert.throws(() => routed.fetchChanges({ url: wrong }), error);
});

test("a handler that empties the body leaves an empty one to the next", () => {
  const emptied = new Request(stateWith(overriding.read({ postData: "" }), "YQ=="), {});
  assert.deepEqual([emptied.postData(), emptied.postDataBuffer(), emptied.postDataJSON()], ["", Buffer.alloc(0), null]);
  const without = new Request(stateWith({}), {});
  assert.deepEqual([without.postData(), without.postDataBuffer(), without.postDataJSON()], [null, null, null]);
  assert.equal(new Request(stateWith({}, "YQ=="), {}).postData(), "a");
});

test("a file is sent with its bytes and its type", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "trafficmock-mock-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "price.txt");
  writeFileSync(path, "12");
  const content = Buffer.from("12").toString("base64");
  assert.deepEqual(await sentOptions({ path }), { path: { content, type: "text/plain" } });
});

test("what JSON does not have is sent as it is shown", async () => {
  const given = { status: NaN, delay: 10n, rate: { a: 1 }, after: () => 1, fault: undefined, statusText: null };
  const foreign = (text) => ({ foreign: text });
  const expected = {
    status: foreign("NaN"),
    delay: foreign("10"),
    rate: foreign('{"a":1}'),
    after: foreign("() => 1"),
  };
  assert.deepEqual(await sentOptions(given), { ...expected, statusText: null });
});

test("null is no body, and the error says so", async () => {
  await assert.rejects(sentOptions({ body: null }), /not null; for an empty body leave it out$/);
  await assert.rejects(sentOptions({ body: {} }), /not object; for objects there is json$/);
});
