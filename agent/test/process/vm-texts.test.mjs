import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { afterEach, beforeEach, describe, test } from "node:test";
import vm, { Script } from "node:vm";

const require = createRequire(import.meta.url);
const { onContext } = require("../../src/process/vm-contexts.js");
const { changeTexts } = require("../../src/process/vm-texts.js");

describe("texts that node:vm compiles", () => {
  let given, realms, undo;
  beforeEach(() => {
    given = [];
    realms = [];
    const change = (/** @type {any} */ one) => {
      given.push(one);
      return one.text.replace("old", "new");
    };
    undo = changeTexts(change, (realm) => realms.push(realm));
  });
  afterEach(() => undo());

  test("are changed, with the path that they have", () => {
    assert.equal(new vm.Script("'old'").runInThisContext(), "new");
    assert.equal(new vm.Script("'old'", { filename: "/app/a.js" }).runInThisContext(), "new");
    assert.equal(new vm.Script("'old'", "/app/b.js").runInThisContext(), "new");
    assert.equal(vm.runInThisContext("'old'", "/app/c.js"), "new");
    assert.equal(vm.compileFunction("return 'old'")(), "new");
    assert.deepEqual(
      given.map(({ path }) => path),
      ["evalmachine.<anonymous>", "/app/a.js", "/app/b.js", "/app/c.js", "evalmachine.<anonymous>"],
    );
  });

  test("are changed for those who have imported a name", () => {
    assert.equal(new Script("'old'").runInThisContext(), "new");
  });

  test("run in a context that is prepared, if they are changed", () => {
    const context = vm.createContext({});
    const realm = vm.runInContext("globalThis", context);
    new vm.Script("'other'").runInContext(context);
    vm.runInContext("'other'", context);
    vm.runInNewContext("'other'", context);
    assert.deepEqual(realms, []);
    assert.equal(new vm.Script("'old'").runInContext(context), "new");
    assert.equal(new vm.Script("'old'").runInNewContext(context), "new");
    assert.equal(vm.runInContext("'old'", context), "new");
    assert.equal(vm.runInNewContext("'old'", context), "new");
    assert.equal(vm.compileFunction("return 'old'", [], { parsingContext: context })(), "new");
    assert.equal(realms.length, 5);
    assert.ok(realms.every((one) => one === realm));
    assert.equal(vm.runInNewContext("'old'"), "new");
    assert.equal(realms.length, 6);
  });

  test("are compiled by what looks like Node's own", () => {
    const script = new vm.Script("'old'");
    assert.ok(script instanceof vm.Script);
    assert.equal(script.constructor, vm.Script);
    assert.equal(Object.getPrototypeOf(script), vm.Script.prototype);
    assert.ok(new (class Own extends vm.Script {})("1") instanceof vm.Script);
    for (const name of ["Script", "compileFunction", "runInContext", "runInNewContext", "runInThisContext"]) {
      const { name: own, length } = vm[name];
      undo();
      assert.deepEqual([own, length], [vm[name].name, vm[name].length]);
    }
  });

  test("fail as they would", () => {
    const errors = () =>
      [
        () => new vm.Script("("),
        () => new vm.Script("'old'").runInContext({}),
        () => vm.runInContext("'old'", undefined),
        () => vm.runInNewContext("throw new RangeError('old')", {}),
        () => new vm.Script(Symbol("old")),
        () => new vm.Script("'old'", 1),
        () => vm.compileFunction(Buffer.from("'old'")),
        () => vm.compileFunction("'old'", [], { parsingContext: {} }),
      ].map((act) => {
        try {
          return act();
        } catch ({ name, code }) {
          return [name, code];
        }
      });
    const ours = errors();
    undo();
    assert.deepEqual(ours, errors());
  });

  test("keep their lines", () => {
    const lineOf = (/** @type {string} */ text) => {
      try {
        return vm.runInThisContext(text, { filename: "/app/lines.js", lineOffset: 10 });
      } catch ({ stack }) {
        return /lines\.js:(\d+)/.exec(stack)[1];
      }
    };
    assert.equal(lineOf("'old';\n\nthrow new Error()"), "13");
    assert.equal(lineOf("'old';\n\n("), "13");
  });
});

test("contexts of any sandbox are made, and observed where that is possible", () => {
  const made = [];
  const undo = onContext((realm) => made.push(typeof realm.Array));
  const refuses = () => {
    throw new Error("not for you");
  };
  try {
    const sandboxes = [
      {},
      new Proxy({ a: 1 }, { get: (object, key) => object[key] }),
      { globalThis: undefined },
      { globalThis: 5 },
      new Proxy({}, { get: refuses, has: refuses }),
    ];
    for (const sandbox of sandboxes) assert.equal(vm.createContext(sandbox), sandbox);
    assert.equal(made[0], "function");
  } finally {
    undo();
  }
});

test("a changed text runs with any sandbox", () => {
  const sandboxes = [{ globalThis: undefined }, new Proxy({}, { get: (object, key) => object[key] })];
  const undo = changeTexts(
    ({ text }) => text.replace("old", "new"),
    (realm) => assert.equal(typeof realm, "object"),
  );
  try {
    for (const sandbox of sandboxes) assert.equal(vm.runInNewContext("'old'", sandbox), "new");
  } finally {
    undo();
  }
});
