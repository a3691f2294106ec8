import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { afterEach, beforeEach, describe, test } from "node:test";
import vm, { Script } from "node:vm";

const require = createRequire(import.meta.url);
const { globalOf, onContext } = require("../../src/process/vm-contexts.js");
const { changeBundled } = require("../../src/process/bundles.js");
const { changeTexts } = require("../../src/process/vm-texts.js");

describe("texts that node:vm compiles", () => {
  let given, realms, left, refused, undo;
  beforeEach(() => {
    given = [];
    realms = [];
    left = [];
    refused = new Set();
    const change = (/** @type {any} */ one) => {
      given.push(one);
      return one.text.replace("old", "new");
    };
    const prepare = (/** @type {object} */ context) => {
      try {
        realms.push(globalOf(context));
        return !refused.has(context);
      } catch {
        return false;
      }
    };
    undo = changeTexts({ change, prepare, left: (text, path) => left.push([text, path]) });
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

  test("run as they were in a context that cannot be prepared", () => {
    const context = vm.createContext({});
    refused.add(context);
    const filename = "/app/a.js";
    const script = new vm.Script("'old'", { filename });
    assert.equal(script.runInContext(context), "old");
    assert.equal(script.runInContext(vm.createContext({})), "new");
    assert.equal(script.runInThisContext(), "new");
    assert.equal(vm.runInContext("'old'", context, filename), "old");
    assert.equal(vm.runInNewContext("'old'", context, { filename }), "old");
    assert.equal(vm.compileFunction("return 'old'", [], { parsingContext: context, filename })(), "old");
    assert.deepEqual(left, [
      ["'old'", filename],
      ["'old'", filename],
      ["'old'", filename],
      ["return 'old'", filename],
    ]);
  });

  test("are left as they are if getters or traps make their options, which nobody else reads", () => {
    const reads = () => {
      const read = [];
      const options = {
        get filename() {
          read.push("filename");
          return "/app/a.js";
        },
        get cachedData() {
          read.push("cachedData");
          return undefined;
        },
      };
      const traps = new Proxy({}, { get: (_, name) => void read.push(String(name)) });
      const values = [options, Object.create(options), traps].flatMap((one) => [
        new vm.Script("'old'", one).runInThisContext(),
        vm.runInThisContext("'old'", one),
        vm.compileFunction("return 'old'", [], one)(),
      ]);
      return { read, values: new Set(values) };
    };
    const ours = reads();
    undo();
    assert.deepEqual(ours, reads());
    assert.equal(left.length, 9);
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

describe("a text with a library runs with any sandbox", () => {
  const refuses = () => {
    throw new Error("not for you");
  };
  const knows = (/** @type {object} */ own, /** @type {PropertyKey} */ name) => {
    if (!(name in own)) throw new ReferenceError(String(name));
    return own[name];
  };
  const SANDBOXES = {
    "of one value": () => ({}),
    "without globalThis": () => ({ globalThis: undefined }),
    "that is a proxy": () => new Proxy({}, {}),
    "that refuses names": () => new Proxy({ Error, RangeError, isRun: false }, { get: knows }),
    "that refuses definitions": () => new Proxy({}, { defineProperty: refuses }),
    "that refuses descriptors": () => new Proxy({}, { getOwnPropertyDescriptor: refuses }),
    "whose globalThis is a getter": () => Object.defineProperty({}, "globalThis", { get: refuses, configurable: true }),
    "that is frozen": () => Object.freeze({}),
  };
  const TEXT = `(class DataLoader {
    constructor(load) {
      if (!load) throw new Error("DataLoader must be constructed with a function");
      this._batchLoadFn = load;
    }
    load() {}
  })`;
  for (const [name, make] of Object.entries(SANDBOXES)) {
    test(name, () => {
      const code = `
        const { TEXT, make } = globalThis.given; const vm = require("node:vm");
        const use = (Loader) => typeof new Loader(1)._batchLoadFn;
        const results = [
          () => use(new vm.Script(TEXT).runInContext(vm.createContext(make()))),
          () => use(vm.runInContext(TEXT, vm.createContext(make()))),
          () => use(vm.runInNewContext(TEXT, make())),
          () => use(vm.compileFunction("return " + TEXT, [], { parsingContext: vm.createContext(make()) })()),
        ].map((act) => { try { return act() } catch (error) { return String(error) } });
        results`;
      const results = () => {
        globalThis.given = { TEXT, make };
        return new Function("require", `${code.replace(/results$/, "return results")}`)(require);
      };
      const plain = results();
      const undo = changeBundled({ "dataloader/index": () => {} }, { text: "nothing follows" });
      try {
        assert.deepEqual(results(), plain);
      } finally {
        undo();
        delete globalThis.given;
      }
    });
  }
});
