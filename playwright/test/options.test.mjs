/* Options that a call does not have are refused: ignored, they would lead a test astray. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { connect } from "trafficmock-playwright/core";
import { attached, proxyServer } from "trafficmock-playwright/config";

const require = createRequire(import.meta.url);
const { checked, isTestOptions } = require("../src/arguments/options.js");
const { Route } = require("../src/objects/route.js");
const { TrafficMock } = require("../src/objects/traffic-mock.js");
const { WebSocketRoute } = require("../src/objects/websocket-route.js");

/** A route whose request records the calls that reach it. */
function routeWith(reached) {
  const record = (name) => () => reached.push(name);
  const routed = { checkHandler() {}, fulfill: record("fulfill"), continue: record("continue") };
  return new Route({ ...routed, fallback: record("fallback"), fetch: record("fetch") });
}

test("a handler's calls name the option that was meant", async () => {
  const reached = [];
  const route = routeWith(reached);
  for (const [call, options, said] of [
    ["fallback", { Method: "" }, /^route\.fallback: .*, not Method; did you mean method\?$/],
    ["fetch", { timeOut: 1, redirects: 2 }, /^route\.fetch: .*, not timeOut, redirects; did you mean timeout\?$/],
    ["fulfill", null, /^route\.fulfill: the options are an object, not null$/],
    ["continue", "http://x/", /not "http:\/\/x\/"$/],
  ]) {
    await assert.rejects(() => route[call](options), { name: "UsageError", message: said });
  }
  assert.deepEqual(reached, []);
  await route.continue();
  await route.continue({ url: "http://h/", method: "GET", headers: {}, postData: "" });
  assert.deepEqual(reached, ["continue", "continue"]);
});

test("a test's calls name the option that was meant", async () => {
  const mocks = new TrafficMock({ waiters: {}, noteCall() {} });
  const handler = () => {};
  for (const [call, said] of [
    [
      () => mocks.route("**", handler, { time: 1 }),
      /^route: the options are times, required, not time; did you mean times\?$/,
    ],
    [
      () => mocks.mock({ url: "**", matchHeders: {} }),
      /^a filter has the keys url, .*, not matchHeders; did you mean matchHeaders\?$/,
    ],
    [
      () => mocks.route("**", handler, { method: "POST" }),
      /^route: method stands in a filter in the place of the URL: route\(\{ url, method \}, …\)$/,
    ],
    [
      () => mocks.mock("**", { method: "POST", clientId: "shop", json: 1 }),
      /^mock: method, clientId stand .*\{ url, method, clientId \}/,
    ],
    [() => mocks.stream("**", { matchHeaders: {} }), /^stream: matchHeaders stands in a filter/],
    [() => mocks.waitForRequest("**", { method: "POST" }), /^waitForRequest: method stands in a filter/],
    [() => mocks.waitForResponse("**", { url: "**" }), /^waitForResponse: url stands .*\(\{ url \}, …\)$/],
    [() => mocks.unrouteAll({ behaviour: "wait" }), /^unrouteAll: .*did you mean behavior\?$/],
    [() => mocks.routeFromHAR("a.har", { notfound: "abort" }), /^routeFromHAR: .*did you mean notFound\?$/],
    [() => mocks.strict({ alow: [] }), /^strict: .*did you mean allow\?$/],
    [() => mocks.waitForRequest("**", { timout: 1 }), /^waitForRequest: .*did you mean timeout\?$/],
    [() => mocks.waitForResponse("**", { ms: 1 }), /^waitForResponse: the options are timeout, signal, not ms$/],
    [() => connect({ title: "t", required: "yes" }), /^required is true or false, not "yes"$/],
    [() => mocks.routeFromHAR("a.har", { update: 1 }), /^update is true or false, not 1$/],
    [() => connect({ titel: "t" }), /^connect: .*did you mean title\?$/],
    [async () => new WebSocketRoute({}).close({ cod: 1 }), /^webSocketRoute\.close: .*did you mean code\?$/],
  ]) {
    await assert.rejects(call, { name: "UsageError", message: said });
  }
});

test("the configuration's calls name the option that was meant", () => {
  assert.throws(() => proxyServer({ proxyURl: "" }), /^UsageError: proxyServer: .*did you mean proxyUrl\?$/);
  assert.throws(
    () => proxyServer({ strict: true }),
    /^UsageError: proxyServer.strict: .*not true; did you mean \{\}\?$/,
  );
  assert.throws(
    () => proxyServer({ strict: { alow: [] } }),
    /^UsageError: proxyServer.strict: .*did you mean allow\?$/,
  );
  assert.throws(() => attached({ clientID: "shop" }), /^UsageError: attached: .*did you mean clientId\?$/);
  assert.throws(() => checked("trafficmockOptions", { origin: [] }), /did you mean origins\?$/);
  assert.throws(() => checked("trafficmock", { strict: "no" }), /strict is true or false, not "no"$/);
});

test("the settings of a test are told from its fixture", () => {
  assert.equal(isTestOptions({ origins: [] }), true);
  assert.equal(isTestOptions(new TrafficMock({})), false);
});
