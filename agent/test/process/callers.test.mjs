import assert from "node:assert/strict";
import { test } from "node:test";
import { callersOf, packagesOf } from "../../src/process/callers.js";

const called = () => callersOf(called);

test("callers are the functions above a function, and not the function itself", () => {
  const caller = () => called();
  assert.match(caller().stack.split("\n")[1], /at caller /);
});

test("the limit of the application's own stacks stays as it is", () => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 3;
  try {
    called();
    assert.equal(Error.stackTraceLimit, 3);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
});

test("packages are the innermost first, with their scopes", () => {
  const stack = [
    "Error",
    "    at send (/shop/node_modules/.pnpm/@scope+one@1.0.0/node_modules/@scope/one/lib/send.js:1:1)",
    "    at file:///C:/shop/node_modules/two/index.mjs:1:1",
    "    at ask (C:\\shop\\node_modules\\@scope\\three\\index.js:1:1)",
    "    at pay (/shop/src/node_modules.js:1:1)",
  ].join("\n");
  assert.deepEqual(packagesOf({ stack }), ["@scope/one", "two", "@scope/three"]);
  assert.deepEqual(packagesOf(undefined), []);
});
