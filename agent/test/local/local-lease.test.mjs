import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { beforeEach, describe, test } from "node:test";

const require = createRequire(import.meta.url);
let time = 0;
const { now } = performance;
// Kept by the module when it is loaded.
performance.now = () => time;
const { LocalDecisions } = require("../../src/local/local-decisions.js");
performance.now = now;

const URL = "http://h.test/a";
const FILTER = { type: "filter:set", n: 3, entries: [{ texts: ["", "/wanted"] }], reports: "now" };

describe("an agent lets a request pass by itself", () => {
  let local, sent, isFree;
  beforeEach(() => {
    time = 5000;
    sent = [];
    isFree = true;
    const link = { sendText: (text) => sent.push(JSON.parse(text)), isFree: () => isFree };
    local = new LocalDecisions({ link, state: "up", links: 1, send: (message) => sent.push(message) });
  });
  const begin = () => {
    local.receive(FILTER);
    local.answered(time);
  };

  test("with a filter and a lease", () => {
    begin();
    assert.deepEqual(sent, [{ type: "filter:ack", n: 3 }]);
    assert.equal(local.lets(URL, undefined), true);
    assert.equal(local.lets("http://h.test/wanted", undefined), false);
  });

  test("not before it has a filter", () => {
    local.receive({ type: "filter:add", n: 1, entries: [] });
    local.answered(time);
    assert.equal(local.lets(URL, undefined), false);
  });

  test("not before a question was answered", () => {
    local.receive(FILTER);
    assert.equal(local.lets(URL, undefined), false);
  });

  test("for half of the second after that question was sent, however late the answer came", () => {
    begin();
    time = 5400;
    local.answered(5200);
    assert.equal(local.until, 6200);
    time = 5700;
    assert.equal(local.lets(URL, undefined), true);
    time = 5701;
    assert.equal(local.lets(URL, undefined), false);
  });

  test("with an older answer, for no shorter", () => {
    begin();
    local.answered(4000);
    assert.equal(local.until, 6000);
  });

  test("but none while the lease is renewed, so that none overtakes the request that does", () => {
    begin();
    time = 5501;
    assert.deepEqual(
      [1, 2, 3].map(() => local.lets(URL, undefined)),
      [false, false, false],
    );
    local.answered(5501);
    time = 6000;
    assert.equal(local.lets(URL, undefined), true);
  });

  test("not when much waits to be sent", () => {
    begin();
    isFree = false;
    assert.equal(local.lets(URL, undefined), false);
  });

  test("not when its link is lost or new", () => {
    begin();
    local.reset();
    assert.equal(local.lets(URL, undefined), false);
    local.answered(time);
    assert.equal(local.lets(URL, undefined), false);
  });

  test("not any more when an entry came, and again when it went", () => {
    begin();
    local.receive({ type: "filter:add", n: 4, entries: [{ texts: [URL] }, { context: "c" }] });
    assert.deepEqual(sent.at(-1), { type: "filter:ack", n: 4 });
    assert.equal(local.lets(URL, undefined), false);
    assert.equal(local.lets("http://h.test/b", { id: "c" }), false);
    local.receive({ type: "filter:drop", entries: [{ texts: [URL] }, { context: "c" }] });
    assert.equal(local.lets(URL, { id: "c" }), true);
  });

  test("and reports what it decided before it answers `sync`", () => {
    begin();
    local.receive({ type: "sync", n: 4, reports: "batch" });
    local.send({ type: "request:passed" }, 1);
    assert.deepEqual(sent.slice(1), [{ type: "synced", n: 4 }]);
    local.receive({ type: "sync", n: 5, reports: "none" });
    assert.deepEqual(
      sent.slice(2).map(({ type }) => type),
      ["batch", "synced"],
    );
    assert.equal(local.pass(), false);
    assert.deepEqual(local.count(), { unreported: 1 });
    assert.deepEqual(local.count(), {});
  });
});
