import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";

const require = createRequire(import.meta.url);
const { Code } = require("../../src/process/code-reader.js");

/** The parts of a text that are no code. */
const partsOf = (text) => {
  const { starts, ends, isSound } = new Code(text);
  return isSound ? starts.map((start, part) => text.slice(start, ends[part])) : "unsound";
};

describe("a reader of code", () => {
  for (const [text, parts] of [
    [`a = "b\\"c" + 'd\\\n"' + "\u2028"`, [`"b\\"c"`, `'d\\\n"'`, `"\u2028"`]],
    [`"a\\\r\nb"`, [`"a\\\r\nb"`]],
    ["`a${b}c${`d${'e'}`}f`", ["`a${", "}c${", "`d${", "'e'", "}`", "}f`"]],
    ["`${{ a: '}' }}\\``", ["`${", "'}'", "}\\``"]],
    ["#!node '\na // ' b\n/* ` */", ["#!node '", "// ' b", "/* ` */"]],
    ["a / 'b' / c", ["'b'"]],
    ["a = /'[/']\\//g / 2", ["/'[/']\\//g"]],
    ["return /'/.test(a) ? b / c / d : /`/", ["/'/", "/`/"]],
    ["if (a) /'/.test(b); (a) / b / c", ["/'/"]],
    ["while(a)/'/.exec(b)", ["/'/"]],
    ["{}/'/.test(a)", ["/'/"]],
    ["a = {} / '2' / b", ["'2'"]],
    ["a = { b: {} / '2' / c }", ["'2'"]],
    ["function a() {} /'/", ["/'/"]],
    ["a[0] / '1' / b", ["'1'"]],
    ["a++ / '1' / b", ["'1'"]],
    ["a.return / '1' / b", ["'1'"]],
    ["a?.in / '1' / b", ["'1'"]],
    ["x => /'/", ["/'/"]],
    ["case /'/: default: /'/", ["/'/", "/'/"]],
    ["1 / '2' / .5e+3", ["'2'"]],
    ["é / '1' / ü", ["'1'"]],
    ["a\u00a0/ '1' /\ufeffb", ["'1'"]],
    ["class A { #b = /'/; c() { return this.#b / '1' / 2 } }", ["/'/", "'1'"]],
    [`"`, "unsound"],
    ["'a\nb'", "unsound"],
    ["`a", "unsound"],
    ["`${a`", "unsound"],
    ["/*", "unsound"],
    ["a = /b\n/", "unsound"],
    ["(]", "unsound"],
    ["{", "unsound"],
    [")", "unsound"],
  ]) {
    test(JSON.stringify(text), () => assert.deepEqual(partsOf(text), parts));
  }

  test("knows the bodies of classes and functions", () => {
    const text = `class A extends f({ class: 1 }, class {}) { constructor() { if (a) { here } } static { there } }
      const own = { class: {}, method() { in_method } }; own.class = {}; (a) => { arrow };`;
    const code = new Code(text);
    const around = (word, isClass) => {
      const { start, end } = code.bodyAt(text.indexOf(word), isClass) ?? {};
      return start && text.slice(start, end);
    };
    assert.match(around("here", true), /^\{ constructor.*there \} \}$/);
    assert.equal(around("here", false), "{ if (a) { here } }");
    assert.match(around("there", true), /^\{ constructor/);
    assert.equal(around("there", false), undefined);
    assert.equal(around("in_method", true), undefined);
    assert.equal(around("in_method", false), "{ in_method }");
    assert.equal(around("arrow", false), "{ arrow }");
  });

  test("reads what bundlers and people have written", () => {
    for (const file of ["typescript/lib/typescript.js", "undici7/lib/llhttp/llhttp-wasm.js", "ws/lib/websocket.js"]) {
      const text = readFileSync(new URL(`../../node_modules/${file}`, import.meta.url), "utf8");
      const code = new Code(text);
      assert.ok(code.isSound, file);
      // Each part is one token of its kind.
      for (const [part, start] of code.starts.entries()) {
        const said = text.slice(start, code.ends[part]);
        if (code.kinds[part] === 1) new Function(`return ${said}`);
        if (code.kinds[part] === 4) new Function(`return ${said}`);
      }
    }
  });
});
