import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";

const require = createRequire(import.meta.url);
const { CALLED, withCalls } = require("../../src/process/bundled-libraries.js");
const { importsOf } = require("../../src/process/module-bundles.js");

const LOADER = `function DataLoader(load) {
  if (typeof load !== "function") throw new TypeError("DataLoader must be constructed with a function")
  this._options = {}
  this._batchLoadFn = load
}
DataLoader.prototype.load = function (key) {}`;
const COMPARES = "if (this._batchLoadFn === undefined) this._batchLoadFn == null;";

/** Run a text with our call, and give what it was called with. */
function run(text) {
  const calls = [];
  globalThis[CALLED] = (...given) => void calls.push(given);
  try {
    return { value: new Function(`${text}; return DataLoader`)(), calls };
  } finally {
    delete globalThis[CALLED];
  }
}

test("a constructor calls with its instance, and assigns what it did", () => {
  const { source, unhooked } = withCalls(`${LOADER}\n${COMPARES}`, "/app/bundle.js");
  assert.deepEqual(unhooked, []);
  assert.ok(source.endsWith(COMPARES));
  const { value: Loader } = run(source);
  const calls = [];
  globalThis[CALLED] = (...given) => void calls.push(given);
  const load = () => {};
  const loader = new Loader(load);
  delete globalThis[CALLED];
  assert.equal(calls.length, 1);
  assert.equal(calls[0][1], loader);
  assert.equal(loader._batchLoadFn, load);
  // In a context of node:vm nobody is called.
  assert.equal(new Loader(load)._batchLoadFn, load);
});

test("a constructor may assign any expression, and need not have semicolons", () => {
  const assigned = [
    ["async (keys) => load(keys)", "function"],
    ["load ?? {}", "function"],
    ["this._own = load", "function"],
    ["load ? 1 : 2", "number"],
    ["1, 2", "number"],
  ];
  for (const [expression, type] of assigned) {
    const text = LOADER.replace("_batchLoadFn = load", `_batchLoadFn = ${expression}`);
    const { value: Loader } = run(withCalls(text, "/app/bundle.js").source);
    assert.equal(typeof new Loader(() => {})._batchLoadFn, type, expression);
  }
  const inGenerator = LOADER.replace("function DataLoader", "function* DataLoader").replace("= load", "= yield 1");
  assert.ok(run(withCalls(inGenerator, "/app/bundle.js").source).value);
});

test("where nothing has our function, an instance is made as it would be, also without globalThis", () => {
  const { source } = withCalls(LOADER, "/app/bundle.js");
  const make = new Function("globalThis", `${source}; return new DataLoader(() => {})`);
  assert.equal(typeof make(undefined)._batchLoadFn, "function");
});

test("a text for eval is a text for eval", () => {
  const text = `${LOADER}\nDataLoader; // it's "the" \\ \u{1f600} end`;
  const quoted = JSON.stringify(text);
  for (const evaluated of [
    `eval(${quoted})`,
    `(0, eval)(${quoted})`,
    `eval(${quoted.replaceAll("this.", "\\x74his.")})`,
    `eval('${quoted.slice(1, -1).replaceAll("'", "\\'")}')`,
    `eval(\`${text.replaceAll("\\", "\\\\")}\`)`,
    `eval(__webpack_require__.ts(${quoted}))`,
  ]) {
    const { source, unhooked } = withCalls(`var DataLoader = ${evaluated}`, "/app/bundle.js");
    assert.equal(source.split(CALLED).length - 1, 1, evaluated);
    assert.deepEqual(unhooked, []);
    const { value: Loader } = run(`const __webpack_require__ = { ts: String }; ${source}`);
    const calls = [];
    globalThis[CALLED] = (...given) => void calls.push(given);
    assert.equal(typeof new Loader(() => {})._batchLoadFn, "function");
    delete globalThis[CALLED];
    assert.equal(calls.length, 1);
  }
});

describe("what is no code", () => {
  const quoted = JSON.stringify(LOADER);
  const template = LOADER.replaceAll("`", "\\`");
  const BARE = "class Own { constructor() { this._batchLoadFn = 1 } }";
  /** Texts with a library, or a word of it, in which none can be changed. */
  const TEXTS = {
    "a string": `const text = ${quoted};`,
    "a string that is given to another function": `evaluate(${quoted}); own.eval(${quoted}); eval(${quoted}, 1 + ${quoted});`,
    "a template": `const text = \`${template}\`;`,
    "a template with substitutions": `const text = \`${template} \${1} ${template}\`;`,
    "a tagged template": `String.raw\`${template}\`;`,
    "a string in a substitution": `const text = \`\${f(${quoted})}\`;`,
    comments: `// ${LOADER.replaceAll("\n", "\n// ")}\n/* ${LOADER} */`,
    "a regular expression": `const one = /DataLoader must be constructed with a function; this._batchLoadFn = load(key)/;`,
    "a hashbang": `#!node DataLoader must be constructed with a function; this._batchLoadFn = load()`,
  };
  for (const [kind, text] of Object.entries(TEXTS)) {
    test(`stays as it is, and is no library: ${kind}`, () => {
      assert.deepEqual(withCalls(text, "/app/bundle.js"), { source: text, hooked: [], unhooked: [] });
    });
    test(`stays as it is beside a library: ${kind}`, () => {
      const between = `${text}\n${BARE}\n`;
      const start = between.startsWith("#!") ? between : `"use strict";\n${between}`;
      const { source, unhooked } = withCalls(`${start}${LOADER}\n${between.replace(/^#!/, "//")}`, "/app/bundle.js");
      assert.deepEqual(unhooked, []);
      assert.equal(source.split(CALLED).length - 1, 1);
      assert.ok(source.startsWith(start));
      assert.ok(source.endsWith(between.replace(/^#!/, "//")));
    });
  }

  test("is told from code in a substitution", () => {
    const { source, unhooked } = withCalls(`\`this._batchLoadFn = 1 \${(() => { ${LOADER} })()}\``, "/app/bundle.js");
    assert.deepEqual(unhooked, []);
    assert.ok(source.startsWith("`this._batchLoadFn = 1 ${"));
    assert.equal(source.split(CALLED).length - 1, 1);
  });

  test("leaves a text as it is, and its library named, where it cannot be told from code", () => {
    for (const text of [
      `${LOADER}\n"`,
      `${LOADER}}`,
      `${LOADER}\n\``,
      `${LOADER}\n/*`,
      `${LOADER} = /[/`,
      `(${LOADER}`,
    ]) {
      const { source, unhooked } = withCalls(text, "/app/bundle.js");
      assert.equal(source, text);
      assert.deepEqual(
        unhooked.map(({ name }) => name),
        ["dataloader"],
      );
    }
  });
});

test("a class that looks like one of a library stays as it is", () => {
  for (const [alike, library] of [
    ["class Own { constructor() { this._batchLoadFn = 1 } payload() {} }", LOADER],
    [
      "class Bus extends EventEmitter { add(one) { this.emit('add') } }",
      `class PQueue { constructor(options) { options = { carryoverIntervalCount: false, ...options };
        throw new TypeError("Expected \`concurrency\` to be a number from 1 and up"); } add(job) { this.emit("add") } }`,
    ],
    [
      "function other(task, given) { task.callback = given || noop; work.call(task, one.value, one.worked); }",
      `function fastqueue(context, worker, concurrency) {
        if (!(concurrency >= 1)) { throw new Error("fastqueue concurrency must be equal to or greater than 1") }
        function push(value, done) { var current = cache.get(); current.callback = done || noop;
          worker.call(context, current.value, current.worked) } }`,
    ],
  ]) {
    const { source, unhooked } = withCalls(`${alike}\n${library}\n${alike}`, "/app/bundle.js");
    assert.deepEqual(unhooked, []);
    assert.notEqual(source, `${alike}\n${library}\n${alike}`);
    assert.ok(source.startsWith(`${alike}\n`) && source.endsWith(`\n${alike}`), source);
  }
});

test("a text whose library cannot be told from what looks like it stays as it is", () => {
  const text = `${LOADER};${"class A { constructor() { this._batchLoadFn = 1 } load() {} };".repeat(200)}`;
  const { source, unhooked } = withCalls(text, "/app/bundle.js");
  assert.equal(source, text);
  assert.equal(unhooked.length, 1);
});

test("a text that has our calls gets no further ones, and nothing in it is named", () => {
  const queue = `"fastqueue concurrency must be equal to or greater than 1"; a.callback = b || c; d.call(e, f.value, f.worked)`;
  const { source } = withCalls(`${LOADER};${queue}`, "/app/bundle.js");
  assert.equal(source.split(CALLED).length - 1, 3);
  const again = withCalls(source, "/app/bundle.js");
  assert.deepEqual([again.source, again.unhooked], [source, []]);
});

test("a library whose places are not all there is named, and left as it is", () => {
  const text = `throw new Error("DataLoader must be constructed with a function")`;
  const { source, unhooked } = withCalls(text, "/app/bundle.js");
  assert.equal(source, text);
  assert.deepEqual(
    unhooked.map(({ name }) => name),
    ["dataloader"],
  );
});

test("p-limit is no p-queue", () => {
  const text = "throw new TypeError('Expected `concurrency` to be a number from 1 and up')";
  assert.deepEqual(withCalls(text, "/app/bundle.js"), { source: text, hooked: [], unhooked: [] });
});

test("a package is no bundle of itself", () => {
  const { source, unhooked } = withCalls(LOADER, "C:\\app\\node_modules\\dataloader\\index.js");
  assert.equal(source, LOADER);
  assert.deepEqual(unhooked, []);
});

test("neo-async is no copy of async that cannot be changed", () => {
  const queue = 'if (isNaN(n)) { throw new Error("Concurrency must not be zero"); } q._tasks.shift();';
  assert.deepEqual(
    withCalls(queue, "/app/bundle.js").unhooked.map(({ name }) => name),
    ["async"],
  );
  const neo = `${queue} async.pickLimit = pickLimit;`;
  assert.deepEqual(withCalls(neo, "/app/node_modules/neo-async/async.js"), { source: neo, hooked: [], unhooked: [] });
});

test("a short word of a library in other code is no library", () => {
  for (const text of [
    "class Bus { dispatchMessage(message) { this.consumers = message; } }",
    'const policy = "arn:aws:iam::aws:policy/AmazonSQSFullAccess"; new aws.SQSClient({});',
    'const principal = "AmazonSimpleNotificationService"; new aws.SNSClient({});',
    "chat.handleMessageReply = (reply) => show(reply);",
    "function handleSubscriberReply(mail) { return mail.returnReply; }",
    "const retries = { CLUSTER_RETRY: 3 };",
    "new Queue({ carryoverIntervalCount: true, intervalCap: 5 });",
    "driver._handleReadyForQuery();",
    `dispatchMessage();${" ".repeat(100_000)}unregisterConsumer(); handleDelivery();`,
  ]) {
    assert.deepEqual(withCalls(text, "/app/bundle.js"), { source: text, hooked: [], unhooked: [] });
  }
});

test("a library without places is found by its words, also in a text for eval", () => {
  const text = `class Command { constructor() { this.of = ["AmazonSQS", "SendMessage"]; } }${" ".repeat(100_000)}named("SQSClient");`;
  for (const source of [text, `eval(${JSON.stringify(text)})`]) {
    assert.deepEqual(
      withCalls(source, "/app/bundle.js").unhooked.map(({ name }) => name),
      ["@aws-sdk/client-sqs"],
    );
  }
});

describe("a text of any kind takes time by its length", () => {
  const WORDS = [
    " ",
    "(",
    "\n",
    "a",
    "a ",
    "$a",
    "((a",
    "import ",
    "import(",
    'import "',
    'from"a/',
    "import\n(",
    "\\",
    ";}",
    "this.",
    "{",
    "=>{",
  ];
  /** The signs of libraries, with what their places begin with. */
  const BEGINNINGS = [
    'throw Error("Concurrency must not be zero");var a=(',
    'Error("Concurrency must not be zero")',
    '"fastqueue concurrency must be equal to or greater than 1";',
    '"fastqueue concurrency must be equal to or greater than 1";a.callback=',
    '"DataLoader must be constructed with a function";this._batchLoadFn',
    '"carryoverIntervalCount","to be a number from 1 and up";this.emit(',
    "handleMessageReply;isStatusReply;handleMessageReply(",
    "CLUSTER_RETRY;allowAutoTopicCreation;this[",
    '"AmazonSQS"',
    "import",
    "import(",
    'import("./a"',
  ];
  const REPEATED = [
    '"DataLoader must be constructed with a function";this._batchLoadFn=1;load();',
    'class A{constructor(){this._batchLoadFn="DataLoader must be constructed with a function"}load(){}};',
    '"Concurrency must not be zero");a=b(c);x._tasks.push(y);',
    '"fastqueue concurrency must be equal to or greater than 1";(()=>{a.callback=b||c});',
    'eval("DataLoader must be constructed with a function");',
    "eval(`AmazonSQS`);",
    "dispatchMessage;unregisterConsumer;handleDelivery;",
  ];
  /** How long the processor works on a text. */
  const milliseconds = (/** @type {string} */ text) => {
    const before = process.cpuUsage();
    withCalls(text, "/app/bundle.js");
    importsOf(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const texts = [
    ...BEGINNINGS.flatMap((beginning) => WORDS.map((word) => [`${beginning} and ${word}`, beginning, word])),
    ...REPEATED.map((text) => [text, "", text]),
  ];
  for (const [name, beginning, word] of texts) {
    test(JSON.stringify(name), () => {
      // Four times as long: sixteen times the time, if each character is read once for each other one. That takes longer than half a
      // second; below that, the times say more about the collection of garbage.
      let before = Infinity;
      for (const length of [12_500, 50_000, 200_000]) {
        const time = milliseconds(beginning + word.repeat(length / word.length));
        assert.ok(time < 500 || time < 10 * before, `${length} characters: ${time} ms, a fourth of them: ${before} ms`);
        before = time;
      }
    });
  }
});
