/* What reports and errors say when the proxy is lost, and when it says the same again. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const { ConnectionError } = require("../src/errors.js");
const { addTraffic } = require("../src/report/attachments.js");
const { TestErrors, throwAll } = require("../src/session/test-errors.js");

test("the error of a test whose proxy was lost names the proxy, and its port for the browser", async () => {
  const lost = new ConnectionError("Lost connection to the trafficmock proxy at http://127.0.0.1:4310.");
  const session = {
    connection: { lost },
    registration: { browserProxyPort: 35543 },
    requests: () => Promise.reject(lost),
  };
  const message = "Error: connect ECONNREFUSED 127.0.0.1:35543";
  const testInfo = { errors: [{ message, stack: `${message}\n    at shop.spec.mjs:3:1` }], attachments: [] };
  await addTraffic(session, testInfo);
  const [error] = testInfo.errors;
  assert.match(error.message, /35543\n\nThe server's traffic:\n {2}Lost connection .*:4310\.\n.*its port 35543\.\n$/);
  assert.equal(error.stack, `${error.message}\n    at shop.spec.mjs:3:1`);
  assert.deepEqual(testInfo.attachments, []);
});

test("requests that the same routes make ambiguous are one error", () => {
  const errors = new TestErrors();
  const tell = (url, ...routes) =>
    errors.toldByProxy({
      code: "ambiguous_route",
      message: `2 tests match GET ${url}`,
      detail: routes.map((routeId) => ({ routeId })),
    });
  tell("http://h.test/a", "r1", "r2");
  tell("http://h.test/b", "r2", "r1");
  tell("http://h.test/b", "r3", "r1");
  const [one, other, ...rest] = errors.take();
  assert.equal(one.message, "2 tests match GET http://h.test/a\n1 more request met the same.");
  assert.equal(other.message, "2 tests match GET http://h.test/b");
  assert.deepEqual(rest, []);
  errors.toldByProxy({ code: "ambiguous_route", message: "a" });
  errors.toldByProxy({ code: "ambiguous_route", message: "b" });
  assert.equal(errors.take().length, 2, "without detail the texts are compared");
});

test("errors of the same text are one, with the number of its repeats", () => {
  const errors = ["no price", "no price", "no stock", "no price"].map((text) => new Error(text));
  const [first] = errors;
  assert.throws(() => throwAll(errors), { message: "no price\nThe same happened 2 more times.\nno stock" });
  const twice = [new Error("again"), new Error("again")];
  assert.throws(
    () => throwAll(twice),
    (error) => error === twice[0] && error.message === "again\nThe same happened once more.",
  );
  assert.equal(first.message, "no price\nThe same happened 2 more times.");
  assert.doesNotThrow(() => throwAll([]));
});
